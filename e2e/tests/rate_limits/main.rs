//! Rate limits as their users see them.

mod deciding;
mod races;
mod refusals;
mod restart;
mod shares;
mod waiting;

use e2e::{Answer, Client, Request};
use serde_json::{Value, json};

/// A job of the queue `limited` with this limit.
fn body(limit: &Value) -> Value {
    json!({"type": "work.do", "args": [], "options": {"queue": QUEUE, "rate_limit": limit}})
}

/// The queue that the tests are about.
const QUEUE: &str = "limited";

/// Stores so many jobs with this limit; their ids.
#[track_caller]
fn create(client: &mut Client, count: usize, limit: &Value) -> Vec<String> {
    let one = |_| {
        let answer = client.post("/ojs/v1/jobs", &body(limit));
        answer.is(201);
        answer.id()
    };
    (0..count).map(one).collect()
}

#[track_caller]
fn put(client: &mut Client, path: &str, body: &Value) -> Answer {
    let request = Request::new("PUT", path).header("Content-Type", "application/json");
    client.send(&request.body(body.to_string()))
}
