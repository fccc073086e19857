//! A request for new jobs, with what its answer may be.

use e2e::{Answer, Request};
use serde_json::{Value, json};

use crate::book::Book;
use crate::counters::count;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    /// One job with an id of ours.
    Plain(String),
    /// One job with an id of the server's, recognised by its marker.
    Marked(String),
    /// Several jobs with ids of ours, all or none.
    Batch(Vec<String>),
    /// One unique job with an id of ours.
    Unique { id: String, key: String, strategy: &'static str },
}

/// A wish, and the key under which it may be repeated.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) wish: Wish,
    pub(crate) repeat_key: Option<String>,
}

pub(crate) const QUEUES: [&str; 3] = ["red", "green", "blue"];

impl Order {
    pub(crate) fn ids(&self) -> &[String] {
        match &self.wish {
            Wish::Plain(id) | Wish::Unique { id, .. } => std::slice::from_ref(id),
            Wish::Batch(ids) => ids,
            Wish::Marked(_) => &[],
        }
    }

    pub(crate) fn key(&self) -> Option<&str> {
        match &self.wish {
            Wish::Unique { key, .. } => Some(key),
            Wish::Plain(_) | Wish::Marked(_) | Wish::Batch(_) => None,
        }
    }

    pub(crate) fn marker(&self) -> Option<&str> {
        match &self.wish {
            Wish::Marked(marker) => Some(marker),
            Wish::Plain(_) | Wish::Unique { .. } | Wish::Batch(_) => None,
        }
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.repeat_key.is_some()
    }

    pub(crate) fn request(&self) -> Request {
        let (path, body) = match &self.wish {
            Wish::Plain(id) => ("/ojs/v1/jobs", job(Some(id), &json!([{}]), None)),
            Wish::Marked(marker) => ("/ojs/v1/jobs", job(None, &json!([{"marker": marker}]), None)),
            Wish::Batch(ids) => {
                let jobs: Vec<Value> = ids.iter().map(|id| job(Some(id), &json!([{}]), None)).collect();
                ("/ojs/v1/jobs/batch", json!({"jobs": jobs}))
            }
            Wish::Unique { id, key, strategy } => {
                let policy = json!({"key": key, "on_conflict": strategy});
                ("/ojs/v1/jobs", job(Some(id), &json!([{}]), Some(policy)))
            }
        };
        let request = Request::post(path, body.to_string());
        match &self.repeat_key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        }
    }

    /// Writes down what an answer says, or panics if it may not say that.
    pub(crate) fn settle(&self, book: &Book, answer: &Answer) {
        match &self.wish {
            Wish::Plain(id) => {
                answer.is(201);
                book.accepted(id);
            }
            Wish::Marked(marker) => {
                answer.is(201);
                book.is_marked(marker, &answer.id());
                book.accepted(&answer.id());
            }
            Wish::Batch(ids) => {
                answer.is(201);
                for id in ids {
                    book.accepted(id);
                }
            }
            Wish::Unique { id, .. } => settle_unique(book, id, answer),
        }
    }
}

fn settle_unique(book: &Book, id: &str, answer: &Answer) {
    match answer.status {
        201 => {
            assert_eq!(answer.id(), *id);
            book.accepted(id);
            for replaced in answer["replaced"].as_array().into_iter().flatten() {
                count(&book.counters.replaced);
                book.ended(replaced.as_str().unwrap_or_default(), "cancelled");
            }
        }
        200 => book.refused(id, &answer.id()),
        _ => {
            assert_eq!(answer.is(409)["error"]["code"], "duplicate");
            book.refused(id, answer.text("/error/details/existing_job_id"));
        }
    }
}

/// Jobs fail often and wait shortly, so that a crash finds them in every state.
fn job(id: Option<&str>, args: &Value, unique: Option<Value>) -> Value {
    let retry = json!({
        "max_attempts": 1000, "initial_interval": "PT0.05S", "backoff_coefficient": 1.0, "jitter": false,
    });
    let mut job = json!({"type": "crash.job", "args": args, "queue": queue_of(id), "retry": retry});
    if let Some(id) = id {
        job["id"] = json!(id);
    }
    if let Some(policy) = unique {
        job["unique"] = policy;
    }
    job
}

fn queue_of(id: Option<&str>) -> &'static str {
    let last = id.and_then(|id| id.bytes().last()).unwrap_or_default();
    QUEUES[usize::from(last) % QUEUES.len()]
}
