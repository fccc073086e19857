//! The wrong thing in each member of a job: refused by its name.

use e2e::{Client, Request};

use crate::{nothing_was_stored, start};

/// A member and values that it must not have.
const WRONG: &[(&str, &[&str])] = &[
    ("type", &["5", "null", "[]", "{}", "\"\"", "\"A.B\"", "\"a b\"", "\"a..b\"", "\"1a\"", "\".a\""]),
    ("args", &["null", "5", "true", "\"text\""]),
    ("queue", &["5", "[]", "\"\"", "\"UPPER\"", "\"a b\"", "\"-a\"", "\"a/b\"", "\"../etc\""]),
    (
        "id",
        &[
            "5",
            "\"\"",
            "\"x\"",
            "\"550e8400-e29b-41d4-a716-446655440000\"",
            "\"01912345-6789-7ABC-8DEF-0123456789AB\"",
            "\"01912345-6789-7abc-cdef-0123456789ab\"",
        ],
    ),
    ("priority", &["\"high\"", "1.5", "101", "-101", "true", "[]", "99999999999999999999"]),
    ("meta", &["[]", "5", "\"text\"", "true"]),
    (
        "scheduled_at",
        &["5", "[]", "\"\"", "\"tomorrow\"", "\"2026-01-01\"", "\"2026-01-01T00:00:00\"", "\"+P\"", "\"+\""],
    ),
    ("expires_at", &["5", "\"later\"", "\"2026-13-01T00:00:00Z\"", "\"2026-01-01T00:00:00\""]),
    ("timeout_ms", &["-1", "1.5", "\"1s\"", "[]"]),
    ("timeout", &["-1", "\"soon\"", "[]"]),
    ("visibility_timeout_ms", &["-1", "0", "1.5", "\"x\"", "[]"]),
    ("tags", &["\"text\"", "5", "{}", "[1]", "[null]"]),
    ("pending", &["\"yes\"", "1", "[]"]),
    ("specversion", &["5", "\"2.0\"", "\"one\""]),
    ("delivery", &["5", "\"exactly_once\"", "[]"]),
    ("options", &["5", "[]", "\"text\""]),
    ("schema", &["5", "[]"]),
];

/// A member of the retry policy and values that it must not have.
const WRONG_RETRY: &[(&str, &[&str])] = &[
    ("max_attempts", &["-1", "1.5", "\"three\"", "[]"]),
    ("initial_interval", &["\"1s\"", "\"\"", "\"PT0S\"", "5", "\"-PT1S\""]),
    ("backoff_coefficient", &["0.5", "\"x\"", "-1"]),
    ("max_interval", &["\"x\"", "\"PT0.5S\"", "[]"]),
    ("jitter", &["\"yes\"", "1"]),
    ("non_retryable_errors", &["\"x\"", "[1]"]),
    ("on_exhaustion", &["\"explode\"", "5"]),
];

fn body_with(member: &str, value: &str) -> String {
    let others = [("type", "\"a.b\""), ("args", "[]")];
    let others: Vec<String> = others
        .iter()
        .filter(|(name, _)| *name != member)
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{},\"{member}\":{value}}}", others.join(","))
}

#[track_caller]
fn is_refused(client: &mut Client, body: &str, status: u16, member: &str) {
    let answer = client.send(&Request::post("/ojs/v1/jobs", body));
    assert_eq!(answer.status, status, "{body}: {}", answer.body);
    answer.is_error(status);
    assert!(answer.message().contains(member), "{body}: no {member} in {:?}", answer.message());
}

#[test]
fn every_member_of_the_wrong_form_is_refused_by_name() {
    let (_server, mut client) = start();
    for (member, values) in WRONG {
        for value in *values {
            is_refused(&mut client, &body_with(member, value), 400, member);
        }
    }
    nothing_was_stored(&mut client);
}

#[test]
fn every_member_of_the_wrong_form_is_refused_under_options_too() {
    let (_server, mut client) = start();
    let nested = ["queue", "priority", "scheduled_at", "expires_at", "timeout_ms", "tags", "pending"];
    for (member, values) in WRONG.iter().filter(|(member, _)| nested.contains(member)) {
        for value in *values {
            let body = body_with("options", &format!("{{\"{member}\":{value}}}"));
            is_refused(&mut client, &body, 400, member);
        }
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_retry_policy_that_cannot_be_followed_is_refused_by_name() {
    let (_server, mut client) = start();
    for (member, values) in WRONG_RETRY {
        for value in *values {
            let body = body_with("retry", &format!("{{\"{member}\":{value}}}"));
            is_refused(&mut client, &body, 422, member);
        }
    }
    nothing_was_stored(&mut client);
}

#[test]
fn missing_members_are_named() {
    let (_server, mut client) = start();
    is_refused(&mut client, r#"{"args":[]}"#, 400, "type");
    is_refused(&mut client, r#"{"type":"a.b"}"#, 400, "args");
    is_refused(&mut client, "{}", 400, "type");
    nothing_was_stored(&mut client);
}

#[test]
fn a_job_has_no_unique_policy_beside_two_different_ones() {
    let (_server, mut client) = start();
    let body =
        r#"{"type":"a.b","args":[],"unique":{"keys":["type"]},"options":{"unique":{"keys":["args"]}}}"#;
    is_refused(&mut client, body, 400, "unique");
    nothing_was_stored(&mut client);
}

#[test]
fn null_means_absent_where_a_member_is_optional() {
    let (_server, mut client) = start();
    let body = r#"{"type":"a.b","args":[],"queue":null,"priority":null,"meta":null,"scheduled_at":null,
                   "retry":null,"unique":null,"tags":null,"options":null,"timeout_ms":null}"#;
    let answer = client.send(&Request::post("/ojs/v1/jobs", body));
    assert_eq!(answer.is(201)["job"]["queue"], "default");
    assert_eq!(answer["job"]["priority"], 0);
}
