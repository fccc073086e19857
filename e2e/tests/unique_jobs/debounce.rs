//! Debounce: a job waits until no other like it has come for a while, but not for ever.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Holder, Job, Server, job};
use serde_json::{Value, json};

/// A job that waits for others like it.
fn reindex(debounce: &Value) -> Job {
    job("index.build").unique(json!({"keys": ["type"], "debounce": debounce}))
}

const HOUR_MS: u64 = 60 * 60 * 1000;

/// A job that waits for an hour.
fn patient() -> Job {
    reindex(&json!({"wait": "PT1H"}))
}

#[test]
fn the_first_job_waits_for_others() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.enqueue(&reindex(&json!({"wait": "PT1H", "max_wait": "P1D"})));
    assert_eq!(answer.is(201)["outcome"], "created");
    let job = &answer["job"];
    assert_eq!(job["state"], "scheduled");
    assert_eq!(job["unique"]["first_start"], job["scheduled_at"]);
    assert_eq!(job["unique"]["debounce"], json!({"wait": "PT1H", "max_wait": "P1D"}));
    assert!(job["unique"]["on_conflict"].is_null(), "debounce stands in its place: {job}");
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn each_duplicate_moves_the_start_to_its_own_wait_and_the_first_one_is_remembered() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.enqueue(&patient());
    let job = &first.is(201)["job"];
    assert_eq!(clock::ms_between(&job["created_at"], &job["scheduled_at"]), HOUR_MS);
    for round in 1..20 {
        let answer = client.enqueue(&patient());
        assert_eq!(answer.is(200)["outcome"], "updated", "round {round}");
        assert_eq!(answer["deduplicated"], true, "round {round}");
        assert_eq!(answer.id(), first.id(), "round {round}");
        let job = &answer["job"];
        let came = &job["unique"]["duplicates"]["last_at"];
        assert_eq!(clock::ms_between(came, &job["scheduled_at"]), HOUR_MS, "round {round}");
        assert_eq!(job["unique"]["first_start"], first["job"]["scheduled_at"], "round {round}");
    }
    assert_eq!(client.count("default", "scheduled"), 1);
}

#[test]
fn it_starts_when_nobody_has_come_for_the_wait() {
    let server = Server::start();
    let mut client = server.client();
    let waiting = reindex(&json!({"wait": "PT0.4S"}));
    let id = client.create(&waiting);
    // Three times the wait: without a limit it is held back as long as others come.
    clock::throughout("it is held back", Duration::from_millis(1200), || {
        client.enqueue(&waiting).is(200)["job"]["state"] == "scheduled"
    });
    let start = client.enqueue(&waiting)["job"]["scheduled_at"].clone();
    let delivery = clock::eventually("the wait is over", SOON, || client.fetch("default", 1).pop());
    assert_eq!(delivery.id, id);
    assert!(delivery.job["started_at"].as_str() >= start.as_str(), "it started before {start}");
}

#[test]
fn the_longest_wait_counts_from_the_first_start() {
    let server = Server::start();
    let mut client = server.client();
    let waiting = reindex(&json!({"wait": "PT0.3S", "max_wait": "PT0.5S"}));
    let id = client.create(&waiting);
    let last = clock::eventually("it is not held back any longer", SOON, || {
        let answer = client.enqueue(&waiting);
        (answer.is(200)["job"]["state"] == "available").then_some(answer)
    });
    let job = &last["job"];
    assert_eq!(clock::ms_between(&job["unique"]["first_start"], &job["scheduled_at"]), 500);
    assert!(job["enqueued_at"].as_str() >= job["scheduled_at"].as_str(), "it started early: {job}");
    let late = client.enqueue(&waiting);
    assert_eq!(late.is(200)["job"]["state"], "available", "it is not sent back");
    assert_eq!(client.fetch_one("default").id, id);
}

#[test]
fn a_job_whose_wait_is_over_and_that_nobody_took_is_moved_again() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&reindex(&json!({"wait": "PT0.1S"})));
    clock::until("the wait is over", SOON, || client.state(&id) == "available");
    let answer = client.enqueue(&patient());
    assert_eq!(answer.is(200)["outcome"], "updated");
    assert_eq!(answer["job"]["state"], "scheduled");
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn the_newest_duplicate_brings_every_attribute() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&patient().args(json!([{"n": 1}])));
    let new = patient().args(json!([{"n": 2}])).with("priority", 5).on("fast").with("tags", json!(["b"]));
    let answer = client.enqueue(&new);
    assert_eq!(answer.is(200).id(), id);
    for attribute in ["args", "priority", "queue", "tags"] {
        assert_eq!(answer["job"][attribute], new.json()[attribute], "{attribute}");
        let updated = answer.list("/updated");
        assert!(updated.contains(&json!(attribute)), "no {attribute} in {updated:?}");
    }
}

#[test]
fn arrays_are_joined_and_anything_else_is_replaced() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&patient().payload(json!([1])));
    for (payload, args) in [
        (json!([2, 3]), json!([[1, 2, 3]])),
        (json!({"n": 4}), json!([{"n": 4}])),
        (json!([5]), json!([[5]])),
        (json!([6]), json!([[5, 6]])),
    ] {
        assert_eq!(client.enqueue(&patient().payload(payload)).is(200)["job"]["args"], args);
    }
    let large = json!(["x".repeat(600 * 1024)]);
    client.enqueue(&patient().payload(large.clone())).is(200);
    client.enqueue(&patient().payload(large)).is_refusal(413, "payload_too_large");
}

#[test]
fn a_running_job_is_left_alone_and_the_next_one_waits_by_itself() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&reindex(&json!({"wait": "PT0.1S"})).payload(json!([1])));
    let running = clock::eventually("the wait is over", SOON, || client.fetch("default", 1).pop());
    let answer = client.enqueue(&patient().payload(json!([2])));
    assert_eq!(answer.is(201)["outcome"], "created");
    assert_eq!((&answer["job"]["state"], &answer["job"]["args"]), (&json!("scheduled"), &json!([[2]])));
    assert_eq!(client.enqueue(&patient().payload(json!([3]))).is(200)["job"]["args"], json!([[2, 3]]));
    client.ack(&running).is(200);
    assert_eq!(client.state(&answer.id()), "scheduled");
}

#[test]
fn a_holder_that_waits_for_something_else_goes_on_waiting_for_it() {
    for state in ["pending", "retryable"] {
        let server = Server::start();
        let mut client = server.client();
        let holder = Holder::bring(&mut client, &job("index.build").on_conflict("reject"), "q", state);
        let answer = client.enqueue(&patient().args(json!([{"n": 2}])));
        assert_eq!(answer.is(200)["outcome"], "updated", "{state}");
        assert_eq!(answer.id(), holder.id, "{state}");
        assert_eq!(answer["job"]["state"], state);
        assert_eq!(answer["job"]["args"], json!([{"n": 2}]), "{state}");
    }
}

#[test]
fn a_finished_holder_does_not_count() {
    for state in ["completed", "cancelled", "discarded"] {
        let server = Server::start();
        let mut client = server.client();
        Holder::bring(&mut client, &job("index.build").on_conflict("reject"), "q", state);
        assert_eq!(client.enqueue(&patient()).is(201)["outcome"], "created", "{state}");
    }
}

#[test]
fn whole_seconds_are_durations_too() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.enqueue(&reindex(&json!({"wait": 10, "max_wait": 60})));
    assert_eq!(answer.is(201)["job"]["unique"]["debounce"], json!({"wait": "PT10S", "max_wait": "PT1M"}));
}

#[test]
fn a_wait_outlives_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    let waiting = reindex(&json!({"wait": "PT0.8S", "max_wait": "PT1H"}));
    let id = client.create(&waiting.clone().payload(json!([1])));
    client.enqueue(&waiting.clone().payload(json!([2]))).is(200);
    let before = client.job(&id);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.job(&id)["unique"]["first_start"], before["unique"]["first_start"]);
    let delivery = clock::eventually("the wait is over", SOON, || client.fetch("default", 1).pop());
    assert_eq!((delivery.id, &delivery.job["args"]), (id, &json!([[1, 2]])));
}

#[test]
fn a_debounced_job_as_it_was_shown_can_be_sent_back() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&patient());
    let mut shown = client.job(&id);
    shown.as_object_mut().expect("a job").remove("id");
    let answer = client.post("/ojs/v1/jobs", &shown);
    assert_eq!(answer.is(200)["outcome"], "updated", "{}", answer.body);
    assert_eq!(answer.id(), id);
}
