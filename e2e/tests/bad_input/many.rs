//! What may be wrong with a bulk request as a whole.

use e2e::{Request, job};
use serde_json::json;

use crate::{nothing_was_stored, start};

const GOOD: &str = r#"{"type":"a.b","args":[]}"#;

#[test]
fn a_bulk_request_without_good_jobs_is_refused_as_a_whole() {
    let (_server, mut client) = start();
    let bodies =
        ["{}", r#"{"jobs":[]}"#, r#"{"jobs":{}}"#, r#"{"jobs":null}"#, r#"{"jobs":5}"#, r#"{"job":[]}"#];
    for body in bodies {
        let answer = client.send(&Request::post("/ojs/v1/jobs/bulk", body));
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains("jobs"), "{body}: {:?}", answer.message());
    }
    for body in ["", "nope", "{\"jobs\":[", "{\"jobs\":[]}{}"] {
        client.send(&Request::post("/ojs/v1/jobs/bulk", body)).is_refusal(400, "invalid_payload");
    }
    for body in ["[]", "null", "5", "\"jobs\""] {
        client.send(&Request::post("/ojs/v1/jobs/bulk", body)).is_error(400);
    }
    nothing_was_stored(&mut client);
}

#[test]
fn atomicity_is_one_of_two_words() {
    let (_server, mut client) = start();
    for (value, word) in [
        ("\"atomc\"", "atomic"),
        ("\"all\"", "atomicity"),
        ("\"\"", "atomicity"),
        ("true", "atomicity"),
        ("5", "atomicity"),
        ("[]", "atomicity"),
    ] {
        let body = format!(r#"{{"jobs":[{GOOD}],"atomicity":{value}}}"#);
        let answer = client.send(&Request::post("/ojs/v1/jobs/bulk", body));
        assert_eq!(answer.status, 400, "{value}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains(word), "{value}: {:?}", answer.message());
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_misspelt_member_is_refused_with_the_nearest_name() {
    let (_server, mut client) = start();
    for (misspelt, meant) in
        [("atomicty", "atomicity"), ("idempotencykey", "idempotency_key"), ("job", "jobs")]
    {
        let body = format!(r#"{{"jobs":[{GOOD}],"{misspelt}":"atomic"}}"#);
        let answer = client.send(&Request::post("/ojs/v1/jobs/bulk", body));
        answer.is_refusal(400, "invalid_request");
        let rest = answer.message().replace(misspelt, "");
        assert!(rest.contains("did you mean") || rest.contains(meant), "{:?}", answer.message());
    }
    nothing_was_stored(&mut client);
}

#[test]
fn an_idempotency_key_in_a_header_is_checked_as_anywhere() {
    let (_server, mut client) = start();
    let body = format!(r#"{{"jobs":[{GOOD}]}}"#);
    let request = Request::post("/ojs/v1/jobs/bulk", body);
    client
        .send(&request.clone().header("Idempotency-Key", &"k".repeat(257)))
        .is_refusal(400, "invalid_request");
    nothing_was_stored(&mut client);
}

#[test]
fn other_content_types_are_refused_and_the_specs_own_takes_arrays_only() {
    let (_server, mut client) = start();
    let body = r#"{"jobs":[{"type":"a.b","args":{"a":1}}]}"#;
    let plain = Request::post("/ojs/v1/jobs/bulk", body);
    client.send(&plain.clone().header("Content-Type", "text/plain")).is_refusal(400, "invalid_request");
    let answer = client.send(&plain.header("Content-Type", "application/openjobspec+json"));
    assert_eq!(answer.is(422)["items"][0]["error"]["code"], "invalid_request");
    let explain = Request::post("/ojs/v1/unique/explain", r#"{"type":"a.b","args":{"a":1}}"#);
    client.send(&explain.clone().header("Content-Type", "text/plain")).is_refusal(400, "invalid_request");
    let spec = explain.header("Content-Type", "application/openjobspec+json");
    client.send(&spec).is_refusal(400, "invalid_request");
    nothing_was_stored(&mut client);
}

#[test]
fn items_nested_too_deep_do_no_harm() {
    let (_server, mut client) = start();
    for depth in [65, 5_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!(r#"{{"jobs":[{GOOD},{{"type":"a.b","args":{deep}}}]}}"#);
        let answer = client.send(&Request::post("/ojs/v1/jobs/bulk", body));
        answer.is_error(400);
        let alone = format!(r#"{{"type":"a.b","args":{deep},"job_key":"name"}}"#);
        client.send(&Request::post("/ojs/v1/jobs", alone)).is_error(400);
    }
    nothing_was_stored(&mut client);
}

#[test]
fn what_is_too_large_to_explain_is_too_large_to_enqueue() {
    let (_server, mut client) = start();
    let large = job("a.b").args(json!(["x".repeat(1024 * 1024 + 1)])).on_conflict("reject");
    client.enqueue(&large).is_refusal(413, "payload_too_large");
    client.explain(&large).is_refusal(413, "payload_too_large");
    nothing_was_stored(&mut client);
}
