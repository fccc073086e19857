//! `DELETE /ojs/v1/job-keys/{key}`: the job that has the name goes, unless it runs.

use e2e::{Server, job};
use serde_json::json;

use crate::{TRIED, bring, digest};

const GOES: [&str; 6] = ["scheduled", "available", "pending", TRIED, "retryable", "discarded"];

#[test]
fn a_holder_that_waits_or_was_given_up_is_removed() {
    let server = Server::start();
    let mut client = server.client();
    for state in GOES {
        let queue = format!("q-{state}");
        let holder = bring(&mut client, state, &queue, state);
        let answer = client.remove_job_key(state);
        assert_eq!(answer.is(200)["job_key"], state);
        assert_eq!(answer["removed"], json!([holder.id]), "{state}");
        assert_eq!(answer["released"], json!([]), "{state}");
        client.get(&format!("/ojs/v1/jobs/{}", holder.id)).is_refusal(404, "not_found");
        assert!(client.fetch(&queue, 1).is_empty(), "{state}");
        for counted in ["scheduled", "available", "retryable", "discarded"] {
            assert_eq!(client.count(&queue, counted), 0, "{state}: {counted}");
        }
        client.remove_job_key(state).is_refusal(404, "not_found");
        assert_eq!(client.enqueue(&digest(state, json!(1))).is(201)["outcome"], "created", "{state}");
    }
}

#[test]
fn a_running_holder_goes_on_without_the_name_and_without_another_attempt() {
    let server = Server::start();
    let mut client = server.client();
    let holder = bring(&mut client, "name", "q", "active");
    let key = client.key_of(&holder.id);
    let answer = client.remove_job_key("name");
    assert_eq!(answer.is(200)["removed"], json!([]));
    assert_eq!(answer["released"], json!([holder.id]));
    let stored = client.job(&holder.id);
    assert_eq!(stored["state"], "active");
    assert!(stored["job_key"].is_null(), "{stored}");
    assert_eq!(stored["max_attempts"], stored["attempt"]);
    assert_eq!(stored["unique"]["released"]["by"], "removal");
    assert_eq!(stored["unique"]["released"]["key"], key.as_str());
    client.remove_job_key("name").is_refusal(404, "not_found");
    let next = client.create(&digest("name", json!(2)));
    assert_eq!(client.nack(holder.delivery()).is(200)["state"], "discarded");
    assert_eq!(client.state(&next), "available");
}

#[test]
fn a_running_holder_can_still_be_done() {
    let server = Server::start();
    let mut client = server.client();
    let holder = bring(&mut client, "name", "q", "active");
    client.remove_job_key("name").is(200);
    assert_eq!(client.ack(holder.delivery()).is(200)["state"], "completed");
}

#[test]
fn beside_a_superseded_job_only_the_one_that_has_the_name_is_removed() {
    let server = Server::start();
    let mut client = server.client();
    let running = bring(&mut client, "name", "q", "active");
    let waiting = client.create(&digest("name", json!(2)));
    let answer = client.remove_job_key("name");
    assert_eq!(answer.is(200)["removed"], json!([waiting]));
    assert_eq!(answer["released"], json!([]));
    client.ack(running.delivery()).is(200);
}

#[test]
fn a_name_that_nobody_has_is_not_found() {
    let server = Server::start();
    let mut client = server.client();
    client.remove_job_key("nobody").is_refusal(404, "not_found");
    for state in ["completed", "cancelled"] {
        let holder = bring(&mut client, state, "q", state);
        client.remove_job_key(state).is_refusal(404, "not_found");
        assert_eq!(client.state(&holder.id), state);
    }
}

#[test]
fn a_key_of_a_unique_policy_is_no_job_key() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").unique(json!({"key": "name"})));
    client.remove_job_key("name").is_refusal(404, "not_found");
    let named = client.enqueue(&digest("name", json!(1)));
    assert_eq!(named.is(201)["outcome"], "created");
    client.remove_job_key("name").is(200);
    assert_eq!(client.state(&id), "available");
}

#[test]
fn what_was_removed_does_not_come_back_after_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    let waiting = bring(&mut client, "waiting", "q", "available");
    let running = bring(&mut client, "running", "r", "active");
    client.remove_job_key("waiting").is(200);
    client.remove_job_key("running").is(200);
    server.crash_and_restart();
    let mut client = server.client();
    client.get(&format!("/ojs/v1/jobs/{}", waiting.id)).is(404);
    assert!(client.fetch("q", 1).is_empty());
    client.remove_job_key("waiting").is(404);
    client.remove_job_key("running").is(404);
    assert_eq!(client.nack(running.delivery()).is(200)["state"], "discarded");
}
