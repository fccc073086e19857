//! One bad item holds up no other.

use e2e::{Request, Server, ids, job};
use serde_json::{Value, json};

use crate::{column, is_sound};

/// Items that are no jobs, and the member that is wrong with each.
const MISSHAPEN: &[(&str, &str)] = &[
    (r#"{"type":"a.b"}"#, "args"),
    (r#"{"args":[]}"#, "type"),
    (r#"{"type":"A B","args":[]}"#, "type"),
    (r#"{"type":"a.b","args":[],"priority":"high"}"#, "priority"),
    (r#"{"type":"a.b","args":[],"queue":"UPPER"}"#, "queue"),
    (r#"{"type":"a.b","args":[],"unique":{"keys":["argz"]}}"#, "unique"),
    (r#"{"type":"a.b","args":[],"unique":{},"job_key":"x"}"#, "job_key"),
    (r#"{"type":"a.b","args":[],"job_key_mode":"replace"}"#, "job_key"),
    (r#"{"type":"a.b","args":[],"scheduled_at":"tomorrow"}"#, "scheduled_at"),
    ("5", "jobs"),
    ("null", "jobs"),
    ("[]", "jobs"),
];

#[test]
fn all_good_items_are_created_in_order() {
    let server = Server::start();
    let mut client = server.client();
    let jobs: Vec<_> = (0..20).map(|number| job(&format!("work.n{number}")).args(json!([number]))).collect();
    let answer = client.bulk(&jobs);
    is_sound(&mut client, &answer, 201);
    for (number, item) in column(&answer, "job").iter().enumerate() {
        assert_eq!((&item["type"], &item["args"]), (&json!(format!("work.n{number}")), &json!([number])));
        assert_eq!(item["state"], "available");
    }
    let order: Vec<Value> =
        client.fetch("default", 20).into_iter().map(|delivery| json!(delivery.id)).collect();
    let ids: Vec<Value> = column(&answer, "job").iter().map(|job| job["id"].clone()).collect();
    assert_eq!(order, ids, "they stand in line in the order of the request");
}

#[test]
fn an_item_of_the_wrong_form_is_named_and_the_rest_are_stored() {
    for (bad, member) in MISSHAPEN {
        let server = Server::start();
        let mut client = server.client();
        let good = r#"{"type":"good.one","args":[]}"#;
        let body = format!(r#"{{"jobs":[{good},{bad},{good}]}}"#);
        let answer = client.send(&Request::post("/ojs/v1/jobs/bulk", body));
        is_sound(&mut client, &answer, 207);
        assert_eq!(column(&answer, "status"), ["created", "failed", "created"], "{bad}");
        let error = &answer["items"][1]["error"];
        assert_eq!(error["code"], "invalid_request", "{bad}: {error}");
        assert_eq!(error["type"], "invalid_request", "{bad}: {error}");
        assert_eq!(error["retryable"], false, "{bad}: {error}");
        assert_eq!(error["details"]["index"], 1, "{bad}: {error}");
        let field = error["details"]["field"].as_str().unwrap_or_default();
        assert!(field.contains(member), "{bad}: no {member} in {field:?}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(member), "{bad}: no {member} in {message:?}");
        assert_eq!(client.count("default", "available"), 2, "{bad}");
    }
}

#[test]
fn a_bad_retry_policy_and_a_bad_rate_limit_fail_alone() {
    let server = Server::start();
    let mut client = server.client();
    let jobs = [
        job("a.b").with("retry", json!({"max_attempts": -1})),
        job("a.b").with("rate_limit", json!({"key": "x", "concurrency": -1})),
        job("a.b"),
    ];
    let answer = client.bulk(&jobs);
    is_sound(&mut client, &answer, 207);
    assert_eq!(answer["items"][0]["error"]["code"], "validation_error");
    assert_eq!(answer["items"][1]["error"]["code"], "invalid_request");
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn if_every_item_failed_the_status_says_so() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("alone").on_conflict("reject"));
    let rejected = job("alone").on_conflict("reject");
    let answer = client.bulk(&[job("Bad Type"), rejected, job("a.b").without("args")]);
    is_sound(&mut client, &answer, 422);
    assert_eq!(column(&answer, "status"), ["failed", "duplicate", "failed"]);
    assert_eq!(answer["succeeded"], 0);
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn an_id_that_is_taken_fails_alone() {
    let server = Server::start();
    let mut client = server.client();
    let (taken, twice) = {
        let mut random = e2e::Random::new(7);
        (ids::fresh(&mut random), ids::fresh(&mut random))
    };
    client.create(&job("a.b").with("id", taken.as_str()));
    let with_id = |id: &str| job("a.b").with("id", id);
    let answer = client.bulk(&[with_id(&taken), with_id(&twice), with_id(&twice), job("a.b")]);
    is_sound(&mut client, &answer, 207);
    assert_eq!(column(&answer, "status"), ["failed", "created", "failed", "created"]);
    for number in [0, 2] {
        let item = &answer["items"][number];
        assert_eq!(item["error"]["code"], "duplicate", "{item}");
        assert!(item["outcome"].is_null(), "{item}");
    }
    assert_eq!(client.count("default", "available"), 3);
}

#[test]
fn a_payload_that_would_grow_too_large_fails_alone() {
    let server = Server::start();
    let mut client = server.client();
    let grow = |text: &str| job("a.b").payload(json!([text])).job_key("name");
    let large = "x".repeat(600 * 1024);
    let answer = client.bulk(&[grow(&large), grow(&large), grow("small")]);
    is_sound(&mut client, &answer, 207);
    assert_eq!(column(&answer, "outcome"), [json!("created"), json!(null), json!("updated")]);
    let failed = &answer["items"][1];
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("payload_too_large"))
    );
    let id = answer.text("/items/0/job/id").to_owned();
    assert_eq!(failed["error"]["details"]["job_id"], id.as_str());
    assert_eq!(client.job(&id)["args"][0].as_array().map(Vec::len), Some(2));
}

#[test]
fn items_may_use_options_payload_and_every_other_attribute() {
    let server = Server::start();
    let mut client = server.client();
    let jobs = [
        job("a.b").with("options", json!({"queue": "q", "priority": 5})),
        job("a.b").payload(json!({"n": 1})),
        job("a.b").with("pending", true),
        job("a.b").with("scheduled_at", "+PT1H"),
        job("a.b").with("x_trace", "kept"),
    ];
    let answer = client.bulk(&jobs);
    is_sound(&mut client, &answer, 201);
    let shown = column(&answer, "job");
    assert_eq!((&shown[0]["queue"], &shown[0]["priority"]), (&json!("q"), &json!(5)));
    assert_eq!(shown[1]["args"], json!([{"n": 1}]));
    assert_eq!((&shown[2]["state"], &shown[3]["state"]), (&json!("pending"), &json!("scheduled")));
    assert_eq!(shown[4]["x_trace"], "kept");
}

#[test]
fn everything_that_was_answered_survives_a_crash() {
    let mut server = Server::start();
    let jobs: Vec<_> = (0..500)
        .map(|number| if number % 7 == 3 { job("Bad") } else { job("a.b").args(json!([number])) })
        .collect();
    let answer = server.client().bulk(&jobs);
    server.crash_and_restart();
    let mut client = server.client();
    is_sound(&mut client, &answer, 207);
    assert_eq!(client.count("default", "available"), answer["succeeded"].as_u64().expect("a count"));
}
