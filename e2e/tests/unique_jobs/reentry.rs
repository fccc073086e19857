//! Jobs that come back: uniqueness is decided at enqueue only, and a returning job disturbs nobody.

use e2e::clock::{self, SOON};
use e2e::{Client, Job, Server, job};
use serde_json::json;

/// A job that wants to be alone only while it waits for its turn: it leaves these states and comes back.
fn alone_in_line() -> Job {
    job("sync").unique(json!({"keys": ["type"], "states": ["available", "scheduled"]}))
}

fn holder() -> Job {
    job("sync").on_conflict("reject")
}

#[track_caller]
fn is_beside(client: &mut Client, id: &str, other: &str) {
    let job = client.job(id);
    assert_eq!(job["state"], "available");
    assert_eq!(job["unique"]["reentered_beside"], other, "{job}");
    assert_eq!(client.state(other), "available");
}

#[test]
fn an_operators_retry_beside_a_live_holder_succeeds_and_is_recorded() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let dead = client.create(&holder().with("retry", retry));
    let delivery = client.fetch_one("default");
    assert_eq!(client.nack(&delivery).is(200)["state"], "discarded");
    let live = client.create(&holder());
    client.post(&format!("/ojs/v1/dead-letter/{dead}/retry"), &json!({})).is(200);
    is_beside(&mut client, &dead, &live);
    client.enqueue(&holder()).is_refusal(409, "duplicate");
}

#[test]
fn a_rescue_beside_a_live_holder_succeeds_and_is_recorded() {
    let server = Server::start();
    let mut client = server.client();
    let lost = client.create(&alone_in_line());
    client.fetch_for("default", 300);
    let live = client.create(&alone_in_line());
    clock::until("the lease runs out", SOON, || client.state(&lost) == "available");
    is_beside(&mut client, &lost, &live);
}

#[test]
fn a_retry_beside_a_live_holder_succeeds_and_is_recorded() {
    let server = Server::start();
    let mut client = server.client();
    let failed = client.create(&alone_in_line().retried(100, 5));
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    let live = client.create(&alone_in_line());
    clock::until("the retry is due", SOON, || client.state(&failed) == "available");
    is_beside(&mut client, &failed, &live);
}

#[test]
fn a_scheduled_job_does_not_conflict_with_itself_when_it_is_due() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&holder().with("scheduled_at", "+PT0.3S"));
    clock::until("it is due", SOON, || client.state(&id) == "available");
    assert!(client.job(&id)["unique"]["reentered_beside"].is_null());
    assert_eq!(client.fetch_one("default").id, id);
}

#[test]
fn two_retries_with_one_key_come_back_together_and_hold_up_nobody() {
    let server = Server::start();
    let mut client = server.client();
    for job in [alone_in_line(), alone_in_line(), job("other")] {
        client.create(&job.retried(300, 5));
        let delivery = client.fetch_one("default");
        assert_eq!(client.nack(&delivery).is(200)["state"], "retryable");
    }
    clock::until("all three come back", SOON, || client.count("default", "available") == 3);
    assert_eq!(client.fetch("default", 3).len(), 3);
}

#[test]
fn a_duplicate_answer_always_names_a_job_that_exists() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..20 {
        let answer = client.enqueue(&holder());
        let named = match answer.status {
            201 => answer.id(),
            _ => answer.is_refusal(409, "duplicate").text("/error/details/existing_job_id").to_owned(),
        };
        assert_eq!(client.state(&named), "available");
    }
}
