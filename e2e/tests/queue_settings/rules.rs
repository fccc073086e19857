//! Queues that drain, that take some types only, and that fill in what a client left open.

use std::time::Duration;

use e2e::{Server, clock, job};
use serde_json::json;

use crate::{QUEUE, config, put, send, waiting};

/// Long before a lease does of which nobody decided anything.
const LAPSED_WITHIN: Duration = Duration::from_secs(10);

#[test]
fn a_queue_that_drains_gives_out_what_it_has_and_takes_nothing() {
    let mut server = Server::start();
    let mut client = server.client();
    send(&mut client).is(201);
    let drained = client.post(&format!("/ojs/v1/queues/{QUEUE}/drain"), &json!({}));
    assert_eq!(drained.is(200)["state"], "draining", "{}", drained.body);
    send(&mut client).is_refusal(422, "x_queue_draining");
    server.crash_and_restart();
    let mut client = server.client();
    send(&mut client).is_refusal(422, "x_queue_draining");
    let delivery = client.fetch_one(QUEUE);
    client.ack(&delivery).is(200);
    put(&mut client, QUEUE, &json!({"draining": false})).is(200);
    send(&mut client).is(201);
}

#[test]
fn a_queue_takes_the_types_that_it_allows() {
    let server = Server::start();
    let mut client = server.client();
    put(&mut client, QUEUE, &json!({"allowed_job_types": ["email.send", "payment.*"]})).is(200);
    for kind in ["email.send", "payment.refund"] {
        client.enqueue(&job(kind).on(QUEUE)).is(201);
    }
    for kind in ["email.send.all", "email", "payments"] {
        let refused = client.enqueue(&job(kind).on(QUEUE));
        refused.is_refusal(422, "JOB_TYPE_NOT_ALLOWED");
        assert_eq!(refused["error"]["details"]["type"], kind, "{}", refused.body);
    }
    assert_eq!(waiting(&mut client), 2);
    client.enqueue(&job("email").on("other")).is(201);
}

#[test]
fn what_a_client_leaves_open_is_filled_in_and_what_it_says_stays() {
    let server = Server::start();
    let mut client = server.client();
    let settings = json!({
        "default_retry": {"max_attempts": 9}, "default_timeout_ms": 4000, "visibility_timeout_ms": 500,
    });
    put(&mut client, QUEUE, &settings).is(200);
    let id = client.create(&job("work").on(QUEUE));
    client.fetch_one(QUEUE);
    clock::until("the lease of the queue runs out", LAPSED_WITHIN, || client.state(&id) == "available");
    let open = client.job(&id);
    assert_eq!(open["retry"]["max_attempts"], 9, "{open}");
    assert_eq!(open["timeout_ms"], 4000, "{open}");
    let said = client.create(&job("work").on(QUEUE).retried(20, 2).with("timeout_ms", 1000));
    let said = client.job(&said);
    assert_eq!((&said["retry"]["max_attempts"], &said["timeout_ms"]), (&json!(2), &json!(1000)), "{said}");
    let other = client.create(&job("work").on("other"));
    assert_eq!(client.job(&other)["retry"]["max_attempts"], 3);
}

#[test]
fn settings_are_changed_where_they_are_mentioned_and_outlive_the_server() {
    let mut server = Server::start();
    let mut client = server.client();
    assert_eq!(config(&mut client, QUEUE), json!({"draining": false}));
    put(&mut client, QUEUE, &json!({"max_size": 3, "overflow_policy": "drop_oldest"})).is(200);
    put(&mut client, QUEUE, &json!({"allowed_job_types": ["work"], "retention": {"completed": "PT1H"}}))
        .is(200);
    let before = config(&mut client, QUEUE);
    assert_eq!(before["backpressure"], json!({"max_depth": 3, "strategy": "drop_oldest"}), "{before}");
    assert_eq!(before["allowed_job_types"], json!(["work"]));
    assert_eq!(before["retention"], json!({"completed": "PT1H"}));
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(config(&mut client, QUEUE), before);
    for _ in 0..5 {
        send(&mut client).is(201);
    }
    assert_eq!(waiting(&mut client), 3);
    put(&mut client, QUEUE, &json!({"backpressure": null, "allowed_job_types": null, "retention": null}))
        .is(200);
    assert_eq!(config(&mut client, QUEUE), json!({"draining": false}));
}

#[test]
fn settings_for_all_hold_where_a_queue_does_not_say_otherwise() {
    let mut server = Server::start();
    let mut client = server.client();
    put(&mut client, "_default", &json!({"max_size": 1})).is(200);
    put(&mut client, "large", &json!({"max_size": 3})).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    for (queue, room) in [("large", 3), ("any", 1), ("another", 1)] {
        for _ in 0..room {
            client.enqueue(&job("work").on(queue)).is(201);
        }
        client.enqueue(&job("work").on(queue)).is_refusal(429, "QUEUE_FULL");
    }
}

#[test]
fn a_queue_can_be_made_before_its_first_job() {
    let server = Server::start();
    let mut client = server.client();
    let made = client.post("/ojs/v1/queues", &json!({"name": QUEUE, "config": {"max_size": 1}}));
    assert_eq!(made.is(201)["name"], QUEUE);
    let listed = client.get("/ojs/v1/queues");
    assert!(listed.is(200).list("/queues").iter().any(|queue| queue["name"] == QUEUE), "{}", listed.body);
    send(&mut client).is(201);
    send(&mut client).is_refusal(429, "QUEUE_FULL");
}
