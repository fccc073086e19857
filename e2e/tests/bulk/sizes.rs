//! How much one request may bring.

use e2e::{Request, Server, job};
use serde_json::json;

use crate::{column, is_sound};

const BULK_MAX: usize = 10_000;
const MIB: usize = 1024 * 1024;

#[test]
fn ten_thousand_jobs_are_one_request() {
    let server = Server::start();
    let mut client = server.client();
    let jobs: Vec<_> = (0..BULK_MAX)
        .map(|number| {
            let policy = json!({"keys": ["args"], "on_conflict": "ignore"});
            job("a.b").args(json!([number / 2])).unique(policy)
        })
        .collect();
    let answer = client.bulk(&jobs);
    assert_eq!(answer.is(201)["total"], BULK_MAX);
    assert_eq!(answer["succeeded"], BULK_MAX);
    assert_eq!(answer.header("x-ojs-batch-size"), Some("10000"));
    for (number, outcome) in column(&answer, "outcome").iter().enumerate() {
        assert_eq!(outcome, if number % 2 == 0 { "created" } else { "existing" }, "item {number}");
    }
    for (number, job) in column(&answer, "job").iter().enumerate() {
        assert_eq!(job["args"], json!([number / 2]), "item {number}");
    }
    assert_eq!(client.count("default", "available"), BULK_MAX as u64 / 2);
}

#[test]
fn a_request_is_one_operation_however_many_jobs_it_brings() {
    const JOBS: usize = 1_000;
    let server = Server::start();
    let mut client = server.client();
    let operations = client.metric("ojs_commit_operations_count");
    client.bulk(&vec![job("a.b"); JOBS]).is(201);
    let after = client.metric("ojs_commit_operations_count");
    // The server's own chores may have had a few.
    assert!(after > operations && after < operations + 20, "{operations} and {after}");
}

#[test]
fn one_more_is_refused_and_nothing_is_stored() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.bulk(&vec![job("a.b"); BULK_MAX + 1]);
    answer.is_refusal(413, "BATCH_SIZE_EXCEEDED");
    assert_eq!(answer["error"]["details"]["max_batch_size"], BULK_MAX);
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn none_at_all_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.bulk(&[]);
    answer.is_refusal(400, "invalid_request");
    assert!(answer.message().contains("jobs"), "{}", answer.body);
}

#[test]
fn one_job_is_enough() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.bulk(&[job("a.b")]);
    is_sound(&mut client, &answer, 201);
}

#[test]
fn a_job_that_is_too_large_fails_alone() {
    let server = Server::start();
    let mut client = server.client();
    let large = job("a.b").args(json!(["x".repeat(MIB + 1)]));
    let answer = client.bulk(&[job("a.b"), large, job("a.b")]);
    is_sound(&mut client, &answer, 207);
    assert_eq!(answer["items"][1]["error"]["code"], "payload_too_large");
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn a_body_that_is_no_json_stores_nothing() {
    let server = Server::start();
    let mut client = server.client();
    for body in [r#"{"jobs":[{"type":"a.b","args":[]},"#, r#"{"jobs":[{"type":"a.b","args":[],"args":[]}]}"#]
    {
        client.send(&Request::post("/ojs/v1/jobs/bulk", body)).is_refusal(400, "invalid_payload");
    }
    assert_eq!(client.count("default", "available"), 0);
}
