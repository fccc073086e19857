//! Workflows as their users see them, and under kill -9.
//!
//! `HAPAX_WORKFLOW_CRASHES` and `HAPAX_WORKFLOW_STOPS` make a soak of it.

mod callbacks;
mod called_off;
mod crash;
mod graphs;
mod once;
mod order;
mod refusals;

use e2e::{Client, Delivery, job};
use serde_json::{Value, json};

/// The job of a step, on a queue of its name.
fn step(name: &str) -> Value {
    job(name).on(name).retried(20, 3).json()
}

/// The same, named for others that wait for it, and waiting for others.
fn named(name: &str, needs: &[&str]) -> Value {
    let mut step = step(name);
    step["id"] = json!(name);
    step["depends_on"] = json!(needs);
    step
}

#[track_caller]
fn start(client: &mut Client, workflow: &Value) -> String {
    let answer = client.post("/ojs/v1/workflows", workflow);
    let id = answer.is(201).text("/workflow/id").to_owned();
    assert_eq!(answer.header("location"), Some(format!("/ojs/v1/workflows/{id}").as_str()));
    assert_eq!(answer["workflow"]["state"], "running", "{}", answer.body);
    id
}

#[track_caller]
fn shown(client: &mut Client, id: &str) -> Value {
    client.get(&format!("/ojs/v1/workflows/{id}")).is(200)["workflow"].clone()
}

/// Where the workflow and each of its steps stand.
#[track_caller]
fn states(client: &mut Client, id: &str) -> Vec<String> {
    let shown = shown(client, id);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let steps = shown["steps"].as_array().into_iter().flatten();
    [text(&shown["state"])].into_iter().chain(steps.map(|step| text(&step["state"]))).collect()
}

/// Runs the step to a good end, whose result is its name. What it was told of those before it.
#[track_caller]
fn finish(client: &mut Client, name: &str) -> Value {
    let Delivery { id, lease, job, .. } = client.fetch_one(name);
    let report = json!({"job_id": id, "lease": lease, "result": {"by": name}});
    client.post("/ojs/v1/workers/ack", &report).is(200);
    job["parent_results"].clone()
}

/// Runs the step to a bad end.
#[track_caller]
fn fail(client: &mut Client, name: &str) {
    let delivery = client.fetch_one(name);
    client.give_up(&delivery).is(200);
}

/// Nothing of these can be fetched.
#[track_caller]
fn nothing(client: &mut Client, names: &[&str]) {
    let found = client.fetch_with(&json!({"queues": names, "count": 9}));
    assert!(found.is_empty(), "{found:?}");
}

/// The result of a step that ended well.
fn by(name: &str) -> Value {
    json!({"by": name})
}
