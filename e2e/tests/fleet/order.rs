//! A request for a new job, which can always be repeated, and what its answer may be.

use e2e::{Answer, Request};
use serde_json::json;

use crate::book::Book;
use crate::counters::count;

/// Few, so that jobs of each are in every state.
pub(crate) const QUEUES: [&str; 3] = ["red", "green", "blue"];

/// A request for a job.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) id: String,
    /// The job's uniqueness key and strategy, if it is unique.
    pub(crate) unique: Option<(String, &'static str)>,
    /// Under this key the order may be repeated.
    pub(crate) repeat_key: String,
}

impl Order {
    pub(crate) fn key(&self) -> Option<String> {
        self.unique.as_ref().map(|(key, _)| key.clone())
    }

    /// Jobs fail often and wait shortly, so that a crash finds them in every state.
    pub(crate) fn request(&self) -> Request {
        let retry = json!({
            "max_attempts": 1000, "initial_interval": "PT0.05S", "backoff_coefficient": 1.0, "jitter": false,
        });
        let last = self.id.bytes().last().unwrap_or_default();
        let queue = QUEUES[usize::from(last) % QUEUES.len()];
        let mut job = json!({"id": self.id, "type": "fleet", "args": [{}], "queue": queue, "retry": retry});
        if let Some((key, strategy)) = &self.unique {
            job["unique"] = json!({"key": key, "on_conflict": strategy});
        }
        Request::post("/ojs/v1/jobs", job.to_string()).header("Idempotency-Key", &self.repeat_key)
    }

    /// Writes down what an answer says, or panics if it may not say that.
    pub(crate) fn settle(&self, book: &Book, answer: &Answer) {
        match (answer.status, &self.unique) {
            (201, _) => {
                assert_eq!(answer.id(), self.id);
                book.accepted(&self.id);
                for replaced in answer["replaced"].as_array().into_iter().flatten() {
                    count(&book.counters.replaced);
                    book.ended(replaced.as_str().unwrap_or_default(), "cancelled");
                }
            }
            (200, Some(_)) => book.refused(&self.id, &answer.id()),
            (409, Some(_)) => {
                // Its first answer comes again with the request id of the first request.
                assert_eq!(answer["error"]["code"], "duplicate", "{}", answer.body);
                book.refused(&self.id, answer.text("/error/details/existing_job_id"));
            }
            _ => panic!("{}: {}", answer.status, answer.body),
        }
    }
}
