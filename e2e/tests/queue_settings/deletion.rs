//! Queues that are deleted: refused, discarded or moved, with a `kill -9` in the middle.

use std::time::Duration;

use e2e::{Answer, Client, Request, Server, clock, job};
use serde_json::{Value, json};

use crate::{QUEUE, put, send, waiting};

/// Longer than it takes on a machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(2);
/// More jobs than whoever asks has time to treat.
const MANY: usize = 3000;
/// How many jobs one request brings.
const BATCH: usize = 1000;

fn delete(client: &mut Client, queue: &str, body: &Value) -> Answer {
    let request = Request::new("DELETE", &format!("/ojs/v1/queues/{queue}"));
    client.send(&request.header("Content-Type", "application/json").body(body.to_string()))
}

fn is_known(client: &mut Client, queue: &str) -> bool {
    client.get(&format!("/ojs/v1/queues/{queue}")).status == 200
}

/// Fills the queue; the ids in their order.
fn fill(client: &mut Client, jobs: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..jobs.div_ceil(BATCH) {
        let batch = vec![job("work").on(QUEUE).json(); BATCH.min(jobs - ids.len())];
        let made = client.post("/ojs/v1/jobs/batch", &json!({"jobs": batch}));
        ids.extend(made.is(201).list("/jobs").iter().filter_map(|job| job["id"].as_str().map(str::to_owned)));
    }
    ids
}

#[test]
fn an_empty_queue_goes_with_its_settings_and_its_pause() {
    let mut server = Server::start();
    let mut client = server.client();
    put(&mut client, QUEUE, &json!({"max_size": 1})).is(200);
    client.post(&format!("/ojs/v1/queues/{QUEUE}/pause"), &json!({})).is(200);
    send(&mut client).is(201);
    let refused = delete(&mut client, QUEUE, &json!({"strategy": "reject"}));
    refused.is_refusal(409, "conflict");
    assert_eq!(refused["error"]["details"]["jobs"], 1, "{}", refused.body);
    let gone = delete(&mut client, QUEUE, &json!({"strategy": "discard"}));
    assert_eq!((&gone.is(202)["state"], &gone["jobs_affected"]), (&json!("deleted"), &json!(1)));
    server.crash_and_restart();
    let mut client = server.client();
    for _ in 0..2 {
        send(&mut client).is(201);
    }
    client.fetch_one(QUEUE);
    delete(&mut client, "nobody", &json!({"strategy": "reject"})).is_refusal(404, "not_found");
}

#[test]
fn jobs_that_wait_are_discarded_and_say_why_and_one_that_runs_ends_where_it_is() {
    let server = Server::start();
    let mut client = server.client();
    let waits = client.create(&job("work").on(QUEUE));
    let delivery = client.fetch_one(QUEUE);
    let lost = client.create(&job("work").on(QUEUE).with("scheduled_at", "2099-01-01T00:00:00Z"));
    let answer = delete(&mut client, QUEUE, &json!({"strategy": "discard"}));
    assert_eq!(answer.is(202)["state"], "draining", "{}", answer.body);
    let discarded = client.job(&lost);
    assert_eq!(
        (&discarded["state"], &discarded["error"]["type"]),
        (&json!("discarded"), &json!("queue_deleted"))
    );
    send(&mut client).is_refusal(422, "x_queue_draining");
    let config = client.get(&format!("/ojs/v1/queues/{QUEUE}/config"));
    assert_eq!(config.is(200)["config"]["deletion"], json!({"strategy": "discard"}), "{}", config.body);
    client.ack(&delivery).is(200);
    assert_eq!(client.state(&waits), "completed");
    clock::until("the queue takes jobs again", PATIENCE, || send(&mut client).status == 201);
}

#[test]
fn jobs_are_moved_in_their_order_through_a_kill() {
    let mut server = Server::start();
    let mut client = server.client();
    let ids = fill(&mut client, MANY);
    let last = client.create(&job("work").on("target"));
    let answer = delete(&mut client, QUEUE, &json!({"strategy": "move", "target_queue": "target"}));
    assert_eq!(answer.is(202)["jobs_affected"], MANY, "{}", answer.body);
    server.crash_and_restart();
    let mut client = server.client();
    clock::until("all jobs have moved", PATIENCE, || !is_known(&mut client, QUEUE));
    assert_eq!(client.count("target", "available"), MANY as u64 + 1);
    let mut seen = Vec::new();
    while seen.len() <= MANY {
        let fetched = client.post("/ojs/v1/workers/fetch", &json!({"queues": ["target"], "count": 100}));
        let jobs = fetched.is(200).list("/jobs");
        assert!(!jobs.is_empty(), "{} jobs came", seen.len());
        seen.extend(jobs.iter().filter_map(|job| job["id"].as_str().map(str::to_owned)));
    }
    let expected: Vec<String> = ids.into_iter().chain([last]).collect();
    assert!(seen == expected, "in the order in which they came, and each once");
    send(&mut client).is(201);
    assert_eq!(waiting(&mut client), 1, "it is a queue like any other again");
}

#[test]
fn a_deletion_that_cannot_be_names_the_place() {
    let server = Server::start();
    let mut client = server.client();
    send(&mut client).is(201);
    for (body, place) in [
        (json!({}), "strategy"),
        (json!({"strategy": "burn"}), "strategy"),
        (json!({"strategy": "move"}), "target_queue"),
        (json!({"strategy": "move", "target_queue": QUEUE}), "target_queue"),
        (json!({"strategy": "move", "target_queue": "No Queue"}), "target_queue"),
        (json!({"strategy": "discard", "target_queue": "other"}), "target_queue"),
        (json!({"strategy": "discard", "targetqueue": "other"}), "targetqueue"),
    ] {
        let refused = delete(&mut client, QUEUE, &body);
        refused.is_refusal(400, "invalid_request");
        assert!(refused.message().contains(place), "{body}: {}", refused.body);
    }
    client.delete(&format!("/ojs/v1/queues/{QUEUE}")).is_error(400);
    delete(&mut client, "_default", &json!({"strategy": "discard"})).is_error(400);
    put(&mut client, "full", &json!({"max_size": 1})).is(200);
    client.create(&job("work").on("full"));
    let to = |queue: &str| json!({"strategy": "move", "target_queue": queue});
    delete(&mut client, QUEUE, &to("full")).is_refusal(429, "QUEUE_FULL");
    put(&mut client, "drained", &json!({"draining": true})).is(200);
    delete(&mut client, QUEUE, &to("drained")).is_refusal(422, "x_queue_draining");
    assert_eq!(waiting(&mut client), 1, "nothing was done");
    send(&mut client).is(201);
}
