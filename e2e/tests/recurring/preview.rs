//! When recurring jobs are due, and when schedules would be that nobody has registered.

use e2e::Server;
use serde_json::{Value, json};

use crate::{YEARLY, entry, register};

const PATH: &str = "/ojs/v1/cron/preview";

#[test]
fn a_schedule_is_shown_without_being_registered() {
    let server = Server::start();
    let mut client = server.client();
    let wish = json!({
        "expression": "30 2 * * *", "timezone": "Europe/Berlin", "count": 3, "from": "2027-03-26T12:00:00Z",
    });
    let answer = client.post(PATH, &wish);
    let expected = json!([
        {"at": "2027-03-27T01:30:00.000Z", "local": "2027-03-27T02:30:00+01:00"},
        {"at": "2027-03-29T00:30:00.000Z", "local": "2027-03-29T02:30:00+02:00"},
        {"at": "2027-03-30T00:30:00.000Z", "local": "2027-03-30T02:30:00+02:00"},
    ]);
    assert_eq!(answer.is(200)["runs"], expected, "{}", answer.body);
    assert_eq!(answer["skipped"][0]["local"], "2027-03-28T02:30:00", "{}", answer.body);
    let every = client.post(PATH, &json!({"cron": "@every 90s", "from": "2027-01-01T00:00:00Z", "count": 2}));
    assert_eq!(every.is(200)["next_runs"], json!(["2027-01-01T00:01:30.000Z", "2027-01-01T00:03:00.000Z"]));
    assert_eq!(client.get("/ojs/v1/cron").is(200)["count"], 0);
}

#[test]
fn a_preview_that_cannot_be_names_the_place() {
    let server = Server::start();
    let mut client = server.client();
    for (body, place) in [
        (json!({}), "expression"),
        (json!({"expression": "61 * * * *"}), "expression"),
        (json!({"expression": "30 2 * 3 0L", "timezone": "Europe/Berlin"}), "expression"),
        (json!({"expression": YEARLY, "timezone": "Mars/Olympus"}), "timezone"),
        (json!({"expression": YEARLY, "count": 0}), "count"),
        (json!({"expression": YEARLY, "count": 101}), "count"),
        (json!({"expression": YEARLY, "from": "tomorrow"}), "from"),
        (json!({"expression": YEARLY, "until": "2027-01-01T00:00:00Z"}), "until"),
    ] {
        let refused = client.post(PATH, &body);
        refused.is_refusal(400, "invalid_request");
        assert_eq!(refused["error"]["details"]["field"], place, "{body}: {}", refused.body);
    }
}

#[test]
fn a_recurring_job_shows_as_many_moments_as_asked_for_and_may_be_called_preview() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("preview", YEARLY, "skip"));
    for (query, moments) in [("", 5), ("?next=1", 1), ("?next=100", 100)] {
        let shown = client.get(&format!("{PATH}{query}"));
        assert_eq!(shown.is(200)["next_runs"].as_array().map(Vec::len), Some(moments), "{}", shown.body);
    }
    for query in ["?next=0", "?next=101", "?next=many"] {
        client.get(&format!("{PATH}{query}")).is_refusal(400, "invalid_request");
    }
    assert_eq!(client.post(PATH, &json!({"expression": YEARLY})).is(200)["name"], Value::Null);
    client.post(&format!("{PATH}/run"), &json!({})).is(200);
    client.delete(PATH).is(200);
    client.get(PATH).is_error(404);
}
