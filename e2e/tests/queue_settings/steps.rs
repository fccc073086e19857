//! Workflows on queues with settings.

use e2e::{Server, job};
use serde_json::json;

use crate::{QUEUE, bound, put, send, waiting};

#[test]
fn a_workflow_that_does_not_fit_is_refused_as_a_whole() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 3, "reject");
    let jobs = vec![job("work").on(QUEUE).json(); 4];
    client.post("/ojs/v1/workflows", &json!({"type": "group", "jobs": jobs})).is_error(429);
    assert_eq!(waiting(&mut client), 0);
    assert!(client.get("/ojs/v1/workflows").is(200).list("/workflows").is_empty());
    client.post("/ojs/v1/workflows", &json!({"type": "group", "jobs": jobs[..3]})).is(201);
    assert_eq!(waiting(&mut client), 3);
}

#[test]
fn a_workflow_for_a_queue_that_drains_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    put(&mut client, QUEUE, &json!({"draining": true})).is(200);
    let steps = [job("work").json(), job("work").on(QUEUE).json()];
    client.post("/ojs/v1/workflows", &json!({"type": "chain", "steps": steps})).is_error(422);
    assert!(client.fetch("default", 9).is_empty());
}

#[test]
fn a_step_that_is_given_up_for_another_job_has_failed() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 1, "drop_oldest");
    let steps = [job("work").on(QUEUE).json(), job("next").on("next").json()];
    let started = client.post("/ojs/v1/workflows", &json!({"type": "chain", "steps": steps}));
    let id = started.is(201).text("/workflow/id");
    send(&mut client).is(201);
    let shown = client.get(&format!("/ojs/v1/workflows/{id}"));
    let states = shown.is(200)["workflow"]["steps"].as_array().into_iter().flatten();
    let states: Vec<&str> = states.filter_map(|step| step["state"].as_str()).collect();
    assert_eq!((shown.text("/workflow/state"), states), ("failed", vec!["failed", "cancelled"]));
}
