//! Class 1, re-entry: a job leaves the states that count, another takes the key, and the first comes back.

use e2e::clock::{self, SOON};
use e2e::{Client, Job, Server, job};
use serde_json::json;

/// A job that wants to be alone only while it is in line.
fn in_line() -> Job {
    job("sync").unique(json!({"keys": ["type"], "states": ["available"]}))
}

/// The ways in which a job comes back into line.
const WAYS: [&str; 6] = ["retry", "rescue", "promotion", "activation", "hand-back", "operator"];

/// Brings a job out of line, lets another take the key, and brings the first back. Returns both.
#[track_caller]
fn come_back(client: &mut Client, way: &str) -> (String, String) {
    let first = match way {
        "promotion" => in_line().with("scheduled_at", "+PT1S"),
        "activation" => in_line().with("pending", true),
        "operator" => in_line().with("retry", json!({"max_attempts": 1, "on_exhaustion": "dead_letter"})),
        _ => in_line().retried(1_000, 5),
    };
    let id = client.create(&first);
    let delivery = match way {
        "promotion" | "activation" => None,
        "rescue" => Some(client.fetch_for("default", 1_000)),
        _ => Some(client.fetch_one("default")),
    };
    if let ("retry" | "operator", Some(delivery)) = (way, &delivery) {
        client.nack(delivery).is(200);
    }
    let other = client.create(&in_line());
    match (way, delivery) {
        ("activation", _) => client.post(&format!("/ojs/v1/jobs/{id}/activate"), &json!({})).is(200).status,
        ("operator", _) => client.post(&format!("/ojs/v1/dead-letter/{id}/retry"), &json!({})).is(200).status,
        ("hand-back", Some(delivery)) => client.hand_back(&delivery).is(200).status,
        _ => 200,
    };
    clock::until("the first comes back", SOON, || client.state(&id) == "available");
    (id, other)
}

#[test]
fn class_01_a_job_that_comes_back_to_a_taken_key_is_neither_lost_nor_stuck() {
    for way in WAYS {
        let server = Server::start();
        let mut client = server.client();
        let (first, other) = come_back(&mut client, way);
        assert_eq!(client.job(&first)["unique"]["reentered_beside"], other.as_str(), "{way}");
        assert_eq!(client.state(&other), "available", "{way}: the other one is not disturbed");
        let refused = client.enqueue(&in_line());
        refused.is_refusal(409, "duplicate");
        let mut delivered = client.fetch("default", 10);
        delivered.sort_by(|a, b| a.id.cmp(&b.id));
        let mut both = [first, other];
        both.sort();
        assert_eq!(delivered.iter().map(|delivery| delivery.id.clone()).collect::<Vec<_>>(), both, "{way}");
        for delivery in &delivered {
            client.ack(delivery).is(200);
        }
        client.create(&in_line());
    }
}

#[test]
fn class_01_a_queue_goes_on_while_jobs_come_back_to_taken_keys() {
    let server = Server::start();
    let mut client = server.client();
    let later = |job: Job| job.with("scheduled_at", "+PT0.3S");
    client.batch(&[vec![later(in_line()); 10], vec![later(job("other")); 10]].concat()).is(201);
    clock::until("all are promoted", SOON, || client.count("default", "available") == 20);
    assert_eq!(client.fetch("default", 20).len(), 20);
}

#[test]
fn class_01_a_job_does_not_conflict_with_itself() {
    for (way, visibility_ms) in [("retry", 60_000), ("rescue", 100)] {
        let server = Server::start();
        let mut client = server.client();
        let id = client.create(&job("sync").on_conflict("reject").retried(50, 9));
        for _ in 0..3 {
            let delivery = clock::eventually("it comes back", SOON, || {
                client
                    .fetch_with(&json!({"queues": ["default"], "visibility_timeout_ms": visibility_ms}))
                    .pop()
            });
            if way == "retry" {
                client.nack(&delivery).is(200);
            }
        }
        clock::until("it comes back", SOON, || client.state(&id) == "available");
        assert!(client.job(&id)["unique"]["reentered_beside"].is_null(), "{way}");
    }
}

#[test]
fn class_01_the_end_of_a_pause_asks_nobody() {
    let server = Server::start();
    let mut client = server.client();
    client.send(&e2e::Request::new("POST", "/ojs/v1/queues/default/pause")).is(200);
    let first = client.create(&in_line());
    client.enqueue(&in_line()).is_refusal(409, "duplicate");
    client.send(&e2e::Request::new("POST", "/ojs/v1/queues/default/resume")).is(200);
    assert_eq!(client.fetch_one("default").id, first);
    client.create(&in_line());
}
