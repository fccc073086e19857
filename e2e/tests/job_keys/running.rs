//! The job that has the name runs: it goes on, and the new one is a job of its own.

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery, Server};
use serde_json::json;

use crate::{RENEWING, digest};

/// The name, held by a running job, and then by a newer one. Returns the delivery of the old and the id of the new.
#[track_caller]
fn superseded(client: &mut Client, mode: &str, visibility_ms: u64) -> (Delivery, String) {
    client.create(&digest("name", json!([1])).retried(1, 5));
    let old = client.fetch_for("default", visibility_ms);
    let answer = client.enqueue(&digest("name", json!([2])).with("job_key_mode", mode).on("next"));
    assert_eq!(answer.is(201)["outcome"], "created");
    assert_ne!(answer.id(), old.id);
    (old, answer.id())
}

#[test]
fn the_new_job_has_the_name_and_its_own_arguments() {
    for mode in RENEWING {
        let server = Server::start();
        let mut client = server.client();
        let (old, new) = superseded(&mut client, mode, 60_000);
        let job = client.job(&new);
        assert_eq!(job["args"], json!([[2]]), "{mode}: what runs has its arguments already");
        assert_eq!((&job["job_key"], &job["state"]), (&json!("name"), &json!("available")), "{mode}");
        assert_eq!(client.job(&old.id)["args"], json!([[1]]), "{mode}");
    }
}

#[test]
fn the_running_job_loses_its_name_and_its_retries_and_says_so() {
    for mode in RENEWING {
        let server = Server::start();
        let mut client = server.client();
        let (old, new) = superseded(&mut client, mode, 60_000);
        let key = client.key_of(&new);
        let job = client.job(&old.id);
        assert_eq!(job["state"], "active", "{mode}");
        assert!(job["job_key"].is_null() && job["job_key_mode"].is_null(), "{mode}: {job}");
        assert!(job["unique"]["uniqueness_key"].is_null(), "{mode}: {job}");
        assert_eq!(job["max_attempts"], job["attempt"], "{mode}");
        let released = &job["unique"]["released"];
        assert_eq!(released["by"], "newer_job", "{mode}: {job}");
        assert_eq!(released["key"], key.as_str(), "{mode}");
        assert!(released["at"].is_string(), "{mode}");
    }
}

#[test]
fn both_can_be_done() {
    for mode in RENEWING {
        let server = Server::start();
        let mut client = server.client();
        let (old, new) = superseded(&mut client, mode, 60_000);
        let next = client.fetch_one("next");
        assert_eq!(next.id, new);
        assert_eq!(client.ack(&old).is(200)["state"], "completed", "{mode}");
        assert_eq!(client.state(&new), "active", "{mode}");
        assert_eq!(client.ack(&next).is(200)["state"], "completed", "{mode}");
    }
}

#[test]
fn a_failure_of_the_old_one_is_final() {
    for mode in RENEWING {
        let server = Server::start();
        let mut client = server.client();
        let (old, new) = superseded(&mut client, mode, 60_000);
        assert_eq!(client.nack(&old).is(200)["state"], "discarded", "{mode}");
        assert_eq!(client.state(&new), "available", "{mode}");
        assert!(client.fetch("default", 1).is_empty(), "{mode}");
    }
}

#[test]
fn the_end_of_the_old_ones_lease_is_final() {
    let server = Server::start();
    let mut client = server.client();
    let (old, new) = superseded(&mut client, "replace", 1_000);
    clock::until("the lease runs out", SOON, || client.state(&old.id) == "discarded");
    assert_eq!(client.state(&new), "available");
}

#[test]
fn the_old_one_can_be_extended() {
    let server = Server::start();
    let mut client = server.client();
    let (old, _) = superseded(&mut client, "replace", 60_000);
    let beat = client.heartbeat("w-1", &[&old.id]);
    assert_eq!(beat.is(200)["lost_jobs"], json!([]), "{}", beat.body);
    client.ack(&old).is(200);
}

#[test]
fn what_happens_to_the_new_one_is_nothing_to_the_old_one() {
    let server = Server::start();
    let mut client = server.client();
    let (old, new) = superseded(&mut client, "replace", 60_000);
    client.cancel(&new).is(200);
    assert_eq!(client.state(&old.id), "active");
    let third = client.enqueue(&digest("name", json!([3])));
    assert_eq!(third.is(201)["outcome"], "created", "the old one does not get the name back");
    client.ack(&old).is(200);
    assert_eq!(client.state(&third.id()), "available");
}

#[test]
fn a_third_job_goes_to_the_one_that_waits() {
    for mode in RENEWING {
        let server = Server::start();
        let mut client = server.client();
        let (old, new) = superseded(&mut client, mode, 60_000);
        let third = client.enqueue(&digest("name", json!([3])).with("job_key_mode", mode));
        assert_eq!(third.is(200)["outcome"], "updated", "{mode}");
        assert_eq!(third.id(), new, "{mode}");
        assert_eq!(third["job"]["args"], json!([[2, 3]]), "{mode}");
        assert_eq!(client.state(&old.id), "active", "{mode}");
    }
}

#[test]
fn an_old_one_that_is_revived_as_a_dead_letter_stays_without_the_name() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({"max_attempts": 5, "on_exhaustion": "dead_letter"});
    client.create(&digest("name", json!([1])).with("retry", retry));
    let old = client.fetch_one("default");
    let new = client.create(&digest("name", json!([2])).on("next"));
    assert_eq!(client.nack(&old).is(200)["state"], "discarded");
    client.post(&format!("/ojs/v1/dead-letter/{}/retry", old.id), &json!({})).is(200);
    let revived = client.job(&old.id);
    assert_eq!(revived["state"], "available");
    assert!(revived["job_key"].is_null(), "{revived}");
    assert_eq!(client.enqueue(&digest("name", json!([3]))).is(200).id(), new);
}

#[test]
fn a_crash_between_leaves_both_as_they_were() {
    let mut server = Server::start();
    let mut client = server.client();
    let (old, new) = superseded(&mut client, "replace", 60_000);
    server.crash_and_restart();
    let mut client = server.client();
    let job = client.job(&old.id);
    assert_eq!(job["unique"]["released"]["by"], "newer_job", "{job}");
    assert_eq!(client.nack(&old).is(200)["state"], "discarded");
    assert_eq!(client.enqueue(&digest("name", json!([3]))).is(200).id(), new);
}
