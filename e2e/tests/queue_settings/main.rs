//! Queues with settings as their users see them: how many jobs may wait, which are taken, what is filled in.

mod capacity;
mod deletion;
mod races;
mod refusals;
mod rules;
mod steps;

use e2e::{Answer, Client, Request, job};
use serde_json::{Value, json};

/// The queue that the tests are about.
const QUEUE: &str = "small";

#[track_caller]
fn put(client: &mut Client, queue: &str, settings: &Value) -> Answer {
    let request = Request::new("PUT", &format!("/ojs/v1/queues/{queue}/config"));
    client.send(&request.header("Content-Type", "application/json").body(settings.to_string()))
}

/// Lets so many jobs wait.
#[track_caller]
fn bound(client: &mut Client, max: u64, strategy: &str) {
    put(client, QUEUE, &json!({"backpressure": {"max_depth": max, "strategy": strategy}})).is(200);
}

#[track_caller]
fn config(client: &mut Client, queue: &str) -> Value {
    client.get(&format!("/ojs/v1/queues/{queue}/config")).is(200)["config"].clone()
}

/// Enqueues, whatever the answer.
#[track_caller]
fn send(client: &mut Client) -> Answer {
    client.enqueue(&job("work").on(QUEUE))
}

/// Enqueues, and waits so many seconds for room.
fn patient(seconds: &str) -> Request {
    Request::post("/ojs/v1/jobs", job("work").on(QUEUE).text()).header("OJS-Block-Timeout", seconds)
}

/// How many jobs wait.
#[track_caller]
fn waiting(client: &mut Client) -> u64 {
    let answer = client.get(&format!("/ojs/v1/queues/{QUEUE}/stats"));
    let stats = &answer.is(200)["stats"];
    let counts = ["scheduled", "available", "pending", "retryable"].map(|state| stats[state].as_u64());
    counts.into_iter().map(|count| count.unwrap_or_else(|| panic!("no count: {stats}"))).sum()
}
