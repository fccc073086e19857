//! Several jobs in one request follow the same rules as several requests.

use e2e::{Server, job};
use serde_json::json;

#[test]
fn a_batch_with_a_rejected_duplicate_stores_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let unique = job("email.send").on_conflict("reject").json();
    let jobs = json!({"jobs": [job("other").json(), unique, unique]});
    let answer = client.post("/ojs/v1/jobs/batch", &jobs);
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["index"], 2);
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn items_of_a_batch_see_the_items_before_them() {
    let server = Server::start();
    let mut client = server.client();
    let with = |strategy: &str| job("email.send").on_conflict(strategy).json();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [with("ignore"), with("ignore")]}));
    answer.is(201);
    assert_eq!(answer["count"], 2);
    assert_eq!(answer["jobs"][0]["id"], answer["jobs"][1]["id"]);
    assert_eq!(client.count("default", "available"), 1);

    let first = answer.text("/jobs/0/id").to_owned();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [with("replace"), with("replace")]}));
    answer.is(201);
    let middle = answer.text("/jobs/0/id").to_owned();
    let last = answer.text("/jobs/1/id").to_owned();
    assert_eq!(client.state(&first), "cancelled");
    assert_eq!(client.state(&middle), "cancelled");
    assert_eq!(client.state(&last), "available");
}

#[test]
fn a_bad_job_in_a_batch_is_named_and_nothing_is_stored() {
    let server = Server::start();
    let mut client = server.client();
    let bad = job("a.b").unique(json!({"keys": ["argz"]})).json();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [job("a.b").json(), bad]}));
    answer.is_refusal(400, "invalid_request");
    assert_eq!(answer["error"]["details"]["index"], 1, "{}", answer.body);
    assert_eq!(client.count("default", "available"), 0);
}
