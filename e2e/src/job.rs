//! Jobs as a client writes them: a test names only what it is about.

use serde_json::{Map, Value, json};

/// The body of an enqueue.
#[derive(Debug, Clone)]
pub struct Job(Map<String, Value>);

/// A job of this type, with one empty object for arguments.
pub fn job(kind: &str) -> Job {
    Job(Map::new()).with("type", kind).with("args", json!([{}]))
}

impl Job {
    /// The job with this attribute.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Job {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The job with the members of an object for attributes.
    #[must_use]
    pub fn with_all(mut self, attributes: &Value) -> Job {
        self.0.extend(attributes.as_object().cloned().unwrap_or_default());
        self
    }

    /// The job without this attribute.
    #[must_use]
    pub fn without(mut self, name: &str) -> Job {
        self.0.remove(name);
        self
    }

    /// The job on this queue.
    #[must_use]
    pub fn on(self, queue: &str) -> Job {
        self.with("queue", queue)
    }

    /// The job with these arguments.
    #[must_use]
    pub fn args(self, args: Value) -> Job {
        self.with("args", args)
    }

    /// The job with this policy.
    #[must_use]
    pub fn unique(self, policy: Value) -> Job {
        self.with("unique", policy)
    }

    /// The job unique by its type, with this strategy.
    #[must_use]
    pub fn on_conflict(self, strategy: &str) -> Job {
        self.unique(json!({"keys": ["type"], "on_conflict": strategy}))
    }

    /// The job with this single argument, in Graphile's word.
    #[must_use]
    pub fn payload(self, payload: Value) -> Job {
        self.without("args").with("payload", payload)
    }

    /// The job with this name among all jobs.
    #[must_use]
    pub fn job_key(self, name: &str) -> Job {
        self.with("job_key", name)
    }

    /// The job with this name, and what happens to a job that has it already.
    #[must_use]
    pub fn keyed(self, name: &str, mode: &str) -> Job {
        self.job_key(name).with("job_key_mode", mode)
    }

    /// The job retried after exactly this many milliseconds, up to so many attempts.
    #[must_use]
    pub fn retried(self, after_ms: u32, attempts: u32) -> Job {
        let interval = format!("PT{}.{:03}S", after_ms / 1000, after_ms % 1000);
        let retry = json!({
            "max_attempts": attempts, "initial_interval": interval, "backoff_coefficient": 1.0, "jitter": false,
        });
        self.with("retry", retry)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        self.json().to_string()
    }
}
