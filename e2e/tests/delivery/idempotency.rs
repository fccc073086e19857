//! `Idempotency-Key`: the same request twice is one request.

use e2e::{Request, Server, job, together};
use serde_json::json;

#[test]
fn the_same_key_with_the_same_body_gives_the_first_answer_again() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.enqueue_once("key-1", &job("a.b"));
    first.is(201);
    let again = client.enqueue_once("key-1", &job("a.b"));
    again.is(201);
    assert_eq!(again.body, first.body);
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn the_first_answer_is_given_even_after_the_job_went_on() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.enqueue_once("key-1", &job("a.b"));
    let delivery = client.fetch_one("default");
    client.ack(&delivery).is(200);
    let again = client.enqueue_once("key-1", &job("a.b"));
    again.is(201);
    assert_eq!(again.id(), first.id());
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn the_same_key_with_another_body_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    client.enqueue_once("key-1", &job("a.b")).is(201);
    client.enqueue_once("key-1", &job("a.c")).is_refusal(409, "idempotency_mismatch");
    client.enqueue_once("key-2", &job("a.c")).is(201);
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn the_answer_survives_a_crash() {
    let mut server = Server::start();
    let first = server.client().enqueue_once("key-1", &job("a.b"));
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.enqueue_once("key-1", &job("a.b")).is(201).id(), first.id());
    client.enqueue_once("key-1", &job("a.c")).is_refusal(409, "idempotency_mismatch");
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn a_key_is_apart_from_uniqueness() {
    let server = Server::start();
    let mut client = server.client();
    let unique = job("a.b").on_conflict("reject");
    let first = client.enqueue_once("key-1", &unique);
    first.is(201);
    assert_eq!(client.enqueue_once("key-1", &unique).is(201).id(), first.id());
    client.enqueue_once("key-2", &unique).is_refusal(409, "duplicate");
    let holder = client.job(&first.id());
    assert_eq!(holder["unique"]["duplicates"]["count"], 1, "a repeated request is no duplicate");
}

#[test]
fn a_batch_is_stored_once() {
    let server = Server::start();
    let mut client = server.client();
    let body = json!({"jobs": [job("a.b").json(), job("a.c").json()]}).to_string();
    let request = Request::post("/ojs/v1/jobs/batch", body).header("Idempotency-Key", "batch-1");
    let first = client.send(&request);
    first.is(201);
    let again = client.send(&request);
    again.is(201);
    assert_eq!(again.body, first.body);
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn many_at_once_with_one_key_create_one_job() {
    const CLIENTS: usize = 16;
    let server = Server::start();
    let ids = together(CLIENTS, |_| server.client().enqueue_once("key-1", &job("a.b")).is(201).id());
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(server.client().count("default", "available"), 1);
}

#[test]
fn many_at_once_with_one_key_and_different_bodies_create_one_job() {
    const CLIENTS: usize = 16;
    let server = Server::start();
    let statuses = together(CLIENTS, |number| {
        let answer = server.client().enqueue_once("key-1", &job(&format!("a.n{number}")));
        if answer.status != 201 {
            answer.is_refusal(409, "idempotency_mismatch");
        }
        answer.status
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(server.client().count("default", "available"), 1);
}

#[test]
fn a_request_that_was_refused_for_its_form_leaves_its_key_free() {
    let server = Server::start();
    let mut client = server.client();
    client.enqueue_once("key-1", &job("Bad Type")).is(400);
    client.enqueue_once("key-1", &job("good.type")).is(201);
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    client.enqueue_once(&"k".repeat(257), &job("a.b")).is_refusal(400, "invalid_request");
    client.enqueue_once(&"k".repeat(256), &job("a.b")).is(201);
}
