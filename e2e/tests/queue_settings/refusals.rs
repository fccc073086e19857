//! Settings that cannot be: each refusal names the place and says what would be right.

use e2e::Server;
use serde_json::{Value, json};

use crate::{QUEUE, config, put};

fn wrong() -> Vec<(Value, u16, &'static str, &'static str)> {
    vec![
        (json!([]), 400, "the body", "object"),
        (json!({"surprise": 1}), 400, "surprise", "unknown"),
        (json!({"max_size": -1}), 400, "max_size", "0"),
        (json!({"max_size": "many"}), 400, "max_size", "integer"),
        (json!({"max_size": 1.5}), 400, "max_size", "integer"),
        (json!({"overflow_policy": "explode"}), 400, "overflow_policy", "reject, block, drop_oldest"),
        (json!({"backpressure": 7}), 400, "backpressure", "object"),
        (json!({"backpressure": {"max_depht": 7}}), 400, "backpressure.max_depht", "max_depth"),
        (
            json!({"backpressure": {"strategy": "x"}}),
            400,
            "backpressure.strategy",
            "reject, block, drop_oldest",
        ),
        (json!({"backpressure": {"warning_threshold": 2}}), 400, "backpressure.warning_threshold", "0 to 1"),
        (json!({"draining": "yes"}), 400, "draining", "true or false"),
        (json!({"default_retry": 7}), 422, "default_retry", "object"),
        (json!({"retention": {"completed": "soon"}}), 400, "retention.completed", "PT"),
        (json!({"retention": {"done": "PT1H"}}), 400, "retention.done", "completed"),
        (json!({"allowed_job_types": "email.*"}), 400, "allowed_job_types", "array"),
        (json!({"allowed_job_types": ["a*b"]}), 400, "allowed_job_types[0]", "at the end"),
        (json!({"allowed_job_types": ["a", "pay ment"]}), 400, "allowed_job_types[1]", "pay ment"),
        (json!({"default_retry": {"max_attempt": 5}}), 422, "default_retry.max_attempt", "max_attempts"),
        (json!({"share": "fairly"}), 400, "share", "line, fair"),
        (json!({"concurrency": -3}), 400, "concurrency", "0"),
        (json!({"rate_limit": {"limit": 3}}), 400, "rate_limit.period", "PT1M"),
    ]
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let server = Server::start();
    let mut client = server.client();
    for (settings, status, place, part) in wrong() {
        let answer = put(&mut client, QUEUE, &settings);
        assert_eq!(answer.status, status, "{settings}: {}", answer.body);
        answer.is_error(status);
        assert_eq!(answer["error"]["details"]["field"], place, "{settings}: {}", answer.body);
        assert!(answer.message().contains(part), "{settings}: {}", answer.message());
    }
    assert_eq!(config(&mut client, QUEUE), json!({"draining": false}));
}

#[test]
fn names_that_no_queue_has_are_refused() {
    let server = Server::start();
    let mut client = server.client();
    for name in ["Bad", "_other", "-a"] {
        put(&mut client, name, &json!({"max_size": 1})).is_error(400);
        client.post("/ojs/v1/queues", &json!({"name": name})).is_error(400);
    }
    client.post("/ojs/v1/queues", &json!({"name": "_default"})).is_error(400);
}
