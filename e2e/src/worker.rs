//! What producers and workers do, as methods of the client.

use serde_json::{Value, json};

use crate::{Answer, Client, Job, Request};

/// A job in the hands of a worker.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The job's id.
    pub id: String,
    /// The proof that the attempt is ours.
    pub lease: String,
    /// Which delivery of the job this is.
    pub fence: u64,
    /// The whole job.
    pub job: Value,
}

impl Delivery {
    fn new(job: &Value) -> Delivery {
        let text = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
        Delivery {
            id: text("id"),
            lease: text("lease"),
            fence: job["fence"].as_u64().unwrap_or_default(),
            job: job.clone(),
        }
    }

    /// The deliveries of a fetch's answer.
    pub fn all(answer: &Answer) -> Vec<Delivery> {
        answer["jobs"].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(Delivery::new).collect()
    }
}

impl Client {
    /// Enqueues a job, whatever the answer.
    #[track_caller]
    pub fn enqueue(&mut self, job: &Job) -> Answer {
        self.post("/ojs/v1/jobs", &job.json())
    }

    /// Enqueues a job that must be created, and returns its id.
    #[track_caller]
    pub fn create(&mut self, job: &Job) -> String {
        let answer = self.enqueue(job);
        answer.is(201);
        answer.id()
    }

    /// The job as the server shows it.
    #[track_caller]
    pub fn job(&mut self, id: &str) -> Value {
        self.get(&format!("/ojs/v1/jobs/{id}")).is(200)["job"].clone()
    }

    /// The state of a job.
    #[track_caller]
    pub fn state(&mut self, id: &str) -> String {
        self.job(id)["state"].as_str().unwrap_or_default().to_owned()
    }

    /// Cancels a job, whatever the answer.
    #[track_caller]
    pub fn cancel(&mut self, id: &str) -> Answer {
        self.delete(&format!("/ojs/v1/jobs/{id}"))
    }

    /// A fetch with this body.
    #[track_caller]
    pub fn fetch_with(&mut self, body: &Value) -> Vec<Delivery> {
        Delivery::all(self.post("/ojs/v1/workers/fetch", body).is(200))
    }

    /// Up to `count` jobs of a queue.
    #[track_caller]
    pub fn fetch(&mut self, queue: &str, count: usize) -> Vec<Delivery> {
        self.fetch_with(&json!({"queues": [queue], "count": count}))
    }

    /// The next job of a queue, which must have one.
    #[track_caller]
    pub fn fetch_one(&mut self, queue: &str) -> Delivery {
        self.fetch(queue, 1).pop().unwrap_or_else(|| panic!("nothing to fetch from {queue}"))
    }

    /// The next job of a queue, which must have one, for this many milliseconds.
    #[track_caller]
    pub fn fetch_for(&mut self, queue: &str, visibility_ms: u64) -> Delivery {
        let body = json!({"queues": [queue], "visibility_timeout_ms": visibility_ms});
        self.fetch_with(&body).pop().unwrap_or_else(|| panic!("nothing to fetch from {queue}"))
    }

    /// Acknowledges a delivery, whatever the answer.
    #[track_caller]
    pub fn ack(&mut self, delivery: &Delivery) -> Answer {
        self.post("/ojs/v1/workers/ack", &json!({"job_id": delivery.id, "lease": delivery.lease}))
    }

    /// Reports a failure that may be retried, whatever the answer.
    #[track_caller]
    pub fn nack(&mut self, delivery: &Delivery) -> Answer {
        let error = json!({"type": "TestError", "message": "it failed"});
        self.post(
            "/ojs/v1/workers/nack",
            &json!({"job_id": delivery.id, "lease": delivery.lease, "error": error}),
        )
    }

    /// Reports a failure that must not be retried, whatever the answer.
    #[track_caller]
    pub fn give_up(&mut self, delivery: &Delivery) -> Answer {
        let error = json!({"type": "TestError", "message": "it failed for good", "retryable": false});
        self.post(
            "/ojs/v1/workers/nack",
            &json!({"job_id": delivery.id, "lease": delivery.lease, "error": error}),
        )
    }

    /// Gives a delivery back as if nobody had fetched it, whatever the answer.
    #[track_caller]
    pub fn hand_back(&mut self, delivery: &Delivery) -> Answer {
        let body = json!({"job_id": delivery.id, "lease": delivery.lease, "requeue": true});
        self.post("/ojs/v1/workers/nack", &body)
    }

    /// Says that a worker is alive and holds these jobs.
    #[track_caller]
    pub fn heartbeat(&mut self, worker: &str, jobs: &[&str]) -> Answer {
        self.post("/ojs/v1/workers/heartbeat", &json!({"worker_id": worker, "active_jobs": jobs}))
    }

    /// The number of jobs of a queue in a state.
    #[track_caller]
    pub fn count(&mut self, queue: &str, state: &str) -> u64 {
        let answer = self.get(&format!("/ojs/v1/queues/{queue}/stats"));
        let count = answer.is(200)[state].as_u64();
        count.unwrap_or_else(|| panic!("no count of {state} jobs: {}", answer.body))
    }

    /// Enqueues under an `Idempotency-Key`, whatever the answer.
    #[track_caller]
    pub fn enqueue_once(&mut self, key: &str, job: &Job) -> Answer {
        self.send(&Request::post("/ojs/v1/jobs", job.text()).header("Idempotency-Key", key))
    }
}
