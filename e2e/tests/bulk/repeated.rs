//! The same request twice is one request.

use e2e::{Answer, Client, Job, Request, Server, job, keys, together};
use serde_json::{Value, json};

/// Four items with every kind of answer.
fn mixed() -> Vec<Job> {
    let alone = job("alone").on_conflict("reject");
    vec![job("a.b"), alone.clone(), alone, job("Bad Type")]
}

fn body(jobs: &[Job], key: impl Into<Value>) -> Value {
    let mut body = keys::jobs(jobs);
    body["idempotency_key"] = key.into();
    body
}

#[track_caller]
fn send(client: &mut Client, body: &Value, header: Option<&str>) -> Answer {
    let request = Request::post("/ojs/v1/jobs/bulk", body.to_string());
    match header {
        Some(key) => client.send(&request.header("Idempotency-Key", key)),
        None => client.send(&request),
    }
}

#[track_caller]
fn is_replayed(again: &Answer, first: &Answer) {
    assert_eq!(again.status, first.status);
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.header("x-ojs-batch-size"), first.header("x-ojs-batch-size"));
}

#[test]
fn the_first_answer_is_given_again_item_by_item() {
    let server = Server::start();
    let mut client = server.client();
    let first = send(&mut client, &keys::jobs(&mixed()), Some("request-1"));
    first.is(207);
    is_replayed(&send(&mut client, &keys::jobs(&mixed()), Some("request-1")), &first);
    assert_eq!(client.count("default", "available"), 2);
    let id = first.text("/items/1/job/id");
    assert_eq!(client.job(id)["unique"]["duplicates"]["count"], 1, "a repeated request is no duplicate");
    let other = keys::jobs(&[job("other")]);
    send(&mut client, &other, Some("request-1")).is_refusal(409, "idempotency_mismatch");
}

#[test]
fn the_key_may_stand_in_the_body() {
    let server = Server::start();
    let mut client = server.client();
    let first = send(&mut client, &body(&mixed(), "request-1"), None);
    first.is(207);
    is_replayed(&send(&mut client, &body(&mixed(), "request-1"), None), &first);
    assert_eq!(client.count("default", "available"), 2);
    send(&mut client, &body(&[job("other")], "request-1"), None).is_refusal(409, "idempotency_mismatch");
}

#[test]
fn the_header_goes_before_the_member() {
    let server = Server::start();
    let mut client = server.client();
    let both = body(&[job("a.b")], "member");
    let first = send(&mut client, &both, Some("header"));
    is_replayed(&send(&mut client, &both, Some("header")), &first);
    let alone = send(&mut client, &both, None);
    assert_eq!(alone.is(201).header("idempotency-replayed"), None, "the member's key was not used");
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn a_request_whose_items_all_failed_is_answered_again_as_well() {
    let server = Server::start();
    let mut client = server.client();
    let bad = keys::jobs(&[job("Bad Type")]);
    let first = send(&mut client, &bad, Some("request-1"));
    let again = send(&mut client, &bad, Some("request-1"));
    assert_eq!((first.is(422).status, again.status), (422, 422));
    assert_eq!(again["items"][0]["error"]["code"], first["items"][0]["error"]["code"]);
}

#[test]
fn an_answer_survives_a_crash() {
    let mut server = Server::start();
    let first = send(&mut server.client(), &keys::jobs(&mixed()), Some("request-1"));
    server.crash_and_restart();
    let mut client = server.client();
    is_replayed(&send(&mut client, &keys::jobs(&mixed()), Some("request-1")), &first);
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn many_at_once_with_one_key_are_one_request() {
    let server = Server::start();
    let jobs = body(&[job("a.b"), job("a.c")], "request-1");
    let answers = together(16, |_| send(&mut server.client(), &jobs, None));
    for answer in &answers {
        assert_eq!(answer.is(201).body, answers[0].body);
    }
    assert_eq!(server.client().count("default", "available"), 2);
}

#[test]
fn a_key_that_is_no_key_is_refused_and_nothing_is_stored() {
    let server = Server::start();
    let mut client = server.client();
    for key in [json!(5), json!(""), json!([]), json!("x".repeat(257))] {
        let answer = send(&mut client, &body(&[job("a.b")], key), None);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains("idempotency_key"), "{}", answer.body);
    }
    assert_eq!(client.count("default", "available"), 0);
    send(&mut client, &body(&[job("a.b")], json!(null)), None).is(201);
}
