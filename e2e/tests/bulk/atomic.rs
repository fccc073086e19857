//! `"atomicity": "atomic"`: all of them or none, in the shape of a bulk answer.

use e2e::{Answer, Client, Job, Server, job, keys};
use serde_json::{Value, json};

use crate::{column, is_sound};

#[track_caller]
fn send(client: &mut Client, jobs: &[Job], atomicity: impl Into<Value>) -> Answer {
    let mut body = keys::jobs(jobs);
    body["atomicity"] = atomicity.into();
    client.post("/ojs/v1/jobs/bulk", &body)
}

#[test]
fn all_are_stored_and_each_is_answered() {
    let server = Server::start();
    let mut client = server.client();
    let alone = job("alone").on_conflict("ignore");
    let answer = send(&mut client, &[job("a.b"), alone.clone(), alone], "atomic");
    is_sound(&mut client, &answer, 201);
    assert_eq!(column(&answer, "outcome"), ["created", "created", "existing"]);
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn one_duplicate_that_is_rejected_refuses_all() {
    let server = Server::start();
    let mut client = server.client();
    let alone = job("alone").on_conflict("reject");
    let holder = client.create(&alone);
    let answer = send(&mut client, &[job("a.b"), alone.clone()], "atomic");
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["index"], 1);
    assert_eq!(answer["error"]["details"]["existing_job_id"], holder.as_str());
    assert_eq!(client.count("default", "available"), 1);
    assert!(client.job(&holder)["unique"]["duplicates"].is_null(), "not even a line in a ledger");
    send(&mut client, &[job("twin").on_conflict("reject"), job("twin").on_conflict("reject")], "atomic")
        .is_refusal(409, "duplicate");
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn one_item_of_the_wrong_form_refuses_all() {
    let server = Server::start();
    let mut client = server.client();
    let answer = send(&mut client, &[job("a.b"), job("a.b"), job("Bad Type")], "atomic");
    answer.is_refusal(400, "invalid_request");
    assert_eq!(answer["error"]["details"]["index"], 2, "{}", answer.body);
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn one_payload_that_would_grow_too_large_refuses_all() {
    let server = Server::start();
    let mut client = server.client();
    let grow = || job("a.b").payload(json!(["x".repeat(600 * 1024)])).job_key("name");
    let answer = send(&mut client, &[job("a.b"), grow(), grow()], "atomic");
    answer.is_refusal(413, "payload_too_large");
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn partial_is_the_default() {
    let server = Server::start();
    let mut client = server.client();
    for atomicity in [json!("partial"), json!(null)] {
        let answer = send(&mut client, &[job("a.b"), job("Bad Type")], atomicity);
        is_sound(&mut client, &answer, 207);
    }
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn a_batch_and_an_atomic_bulk_request_are_refused_alike() {
    let server = Server::start();
    let mut client = server.client();
    let alone = job("alone").on_conflict("reject");
    client.create(&alone);
    for bad in [vec![job("a.b"), alone], vec![job("a.b"), job("a.b").without("args")]] {
        let (batch, bulk) = (client.batch(&bad), send(&mut client, &bad, "atomic"));
        assert_eq!(batch.status, bulk.status);
        for member in ["code", "message", "details"] {
            assert_eq!(batch["error"][member], bulk["error"][member], "{member}");
        }
    }
}
