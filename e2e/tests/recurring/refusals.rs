//! Recurring jobs that cannot be: each refusal names the place and says what would be right.

use e2e::Server;
use serde_json::{Value, json};

/// What is wrong, the place that has to be named, and a part of what has to be said of it.
fn wrong() -> Vec<(Value, &'static str, &'static str)> {
    let long = "a".repeat(256);
    vec![
        (json!({"expression": "* * * *"}), "expression", "5 fields"),
        (json!({"expression": "* * * * * * *"}), "expression", "not 7"),
        (json!({"expression": "61 * * * *"}), "expression", "0 to 59"),
        (json!({"expression": "0 25 * * *"}), "expression", "hour"),
        (json!({"expression": "0 22-2 * * *"}), "expression", "hour"),
        (json!({"expression": "*/0 * * * *"}), "expression", "minute"),
        (json!({"expression": "* * * * FUNDAY"}), "expression", "day of week"),
        (json!({"expression": "0 0 30 2 *"}), "expression", "never run"),
        (json!({"expression": "@sometimes"}), "expression", "@sometimes"),
        (json!({"expression": "@every 0s"}), "expression", "second"),
        (json!({"expression": ""}), "expression", "fields"),
        (json!({"expression": 5}), "expression", "cron expression"),
        (json!({"expression": null}), "expression", "is required"),
        (json!({"cron": "1 * * * *"}), "cron", "contradicts expression"),
        (json!({"timezone": "Mars/Olympus"}), "timezone", "IANA"),
        (json!({"timezone": ""}), "timezone", "IANA"),
        (json!({"timezone": 1}), "timezone", "IANA"),
        (json!({"name": null}), "name", "is required"),
        (json!({"name": ""}), "name", "lower-case"),
        (json!({"name": "A b"}), "name", "lower-case"),
        (json!({"name": "-a"}), "name", "begin with"),
        (json!({"name": "a/b"}), "name", "lower-case"),
        (json!({"name": long}), "name", "255"),
        (json!({"overlap_policy": "maybe"}), "overlap_policy", "skip, allow, cancel_previous, enqueue"),
        (json!({"overlap_policy": "skip", "overlap": "allow"}), "overlap", "contradicts overlap_policy"),
        (json!({"enabled": "yes"}), "enabled", "true or false"),
        (
            json!({"job_template": null, "type": "t", "args": [], "options": {"enabled": false}}),
            "options.enabled",
            "beside options",
        ),
        (
            json!({"job_template": {"type": "t", "args": [], "pending": true}}),
            "job_template.pending",
            "recurring",
        ),
        (json!({"description": 7}), "description", "text"),
        (json!({"job_template": 7}), "job_template", "the job"),
        (json!({"job_template": {"args": []}}), "job_template.type", "is required"),
        (json!({"job_template": {"type": "t", "args": 7}}), "job_template.args", "array"),
        (
            json!({"job_template": {"type": "t", "args": [], "expires_at": "2099-01-01T00:00:00Z"}}),
            "job_template.expires_at",
            "relative",
        ),
    ]
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let server = Server::start();
    let mut client = server.client();
    let right = json!({
        "name": "nightly", "expression": "0 3 * * *", "job_template": {"type": "t", "args": []},
    });
    for (change, place, part) in wrong() {
        let mut body = right.clone();
        for (name, value) in change.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let answer = client.post("/ojs/v1/cron", &body);
        answer.is_error(400);
        assert_eq!(answer["error"]["details"]["field"], place, "{change}: {}", answer.body);
        assert!(answer.message().contains(part), "{change}: {}", answer.message());
    }
    assert_eq!(client.get("/ojs/v1/cron").is(200).list("/cron_jobs").len(), 0);
    // But for what was wrong, it is right.
    client.post("/ojs/v1/cron", &right).is(201);
}
