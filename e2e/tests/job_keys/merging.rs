//! Arrays grow: two payloads that are arrays become one, in the order in which they came.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Answer, Client, Delivery, Request, Server};
use serde_json::json;

use crate::{MODES, RENEWING, bring, digest};

/// The most bytes to which arguments grow.
const JOINED_MAX: usize = 1024 * 1024;

/// Sends two jobs of one name with these arguments, as text, and returns the arguments after that, as text.
#[track_caller]
fn joined(client: &mut Client, name: &str, old: &str, new: &str) -> String {
    let send = |args: &str| {
        Request::post("/ojs/v1/jobs", format!(r#"{{"type":"a.b","args":{args},"job_key":"{name}"}}"#))
    };
    client.send(&send(old)).is(201);
    let answer = client.send(&send(new));
    assert_eq!(answer.is(200)["outcome"], "updated");
    let read = client.get(&format!("/ojs/v1/jobs/{}", answer.id()));
    assert_eq!(read.raw(&["job", "args"]), answer.raw(&["job", "args"]));
    read.raw(&["job", "args"])
}

#[track_caller]
fn check(pairs: &[(&str, &str, &str)]) {
    let server = Server::start();
    let mut client = server.client();
    for (number, (old, new, expected)) in pairs.iter().enumerate() {
        let args = joined(&mut client, &format!("name-{number}"), old, new);
        assert_eq!(args, *expected, "{old} and {new}");
    }
}

#[test]
fn two_arrays_become_one_and_every_item_keeps_its_bytes() {
    check(&[
        (r#"[[{"id": 1}]]"#, r#"[ [ {"id": 2.0},1e3 ] ]"#, r#"[[{"id": 1},{"id": 2.0},1e3]]"#),
        (
            r#"[["\u00e9\/",12345678901234567890]]"#,
            "[[-0,null]]",
            r#"[["\u00e9\/",12345678901234567890,-0,null]]"#,
        ),
        ("[[]]", "[[1]]", "[[1]]"),
        ("[[1]]", "[[]]", "[[1]]"),
        ("[[]]", "[[]]", "[[]]"),
        ("[[[1]]]", "[[[2]]]", "[[[1],[2]]]"),
        ("[[1]]", "[[1]]", "[[1,1]]"),
        (r#"[["]],[["]]"#, r#"[["\\","\"]"]]"#, r#"[["]],[[","\\","\"]"]]"#),
    ]);
}

#[test]
fn of_anything_else_the_new_one_wins() {
    check(&[
        (r#"[{"a":1,"b":2}]"#, r#"[{"a":3}]"#, r#"[{"a":3}]"#),
        ("[[1]]", r#"[{"a":1}]"#, r#"[{"a":1}]"#),
        (r#"[{"a":1}]"#, "[[1]]", "[[1]]"),
        ("[1]", "[2]", "[2]"),
        ("[null]", "[[1]]", "[[1]]"),
        ("[]", "[[1]]", "[[1]]"),
        ("[[1]]", "[]", "[]"),
        ("[[1],[2]]", "[[3],[4]]", "[[3],[4]]"),
        ("[[1]]", "[[2],[3]]", "[[2],[3]]"),
        (r#"{"a":[1]}"#, r#"{"a":[2]}"#, r#"{"a":[2]}"#),
        ("[[1]]", r#"{"a":[2]}"#, r#"{"a":[2]}"#),
    ]);
}

#[test]
fn payload_and_a_single_argument_are_the_same() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&digest("name", json!([1])));
    let answer = client.enqueue(&digest("name", json!([])).without("payload").args(json!([[2]])));
    assert_eq!(answer.is(200)["job"]["args"], json!([[1, 2]]));
}

#[test]
fn a_holder_that_failed_before_is_appended_to_as_well() {
    for state in [crate::TRIED, "retryable", "discarded"] {
        for mode in RENEWING {
            let server = Server::start();
            let mut client = server.client();
            bring(&mut client, "name", "q", state);
            client.enqueue(&digest("name", json!([1]))).is(200);
            let answer = client.enqueue(&digest("name", json!([2])).with("job_key_mode", mode));
            assert_eq!(answer.is(200)["job"]["args"], json!([[1, 2]]), "{state} {mode}");
        }
    }
}

#[test]
fn unsafe_dedupe_appends_nothing() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&digest("name", json!([1])));
    let answer = client.enqueue(&digest("name", json!([2])).with("job_key_mode", MODES[2]));
    assert_eq!(answer.is(200)["job"]["args"], json!([[1]]));
}

/// Sends numbered payloads with this mode, each to start a second from its own moment, until most of that has
/// passed since the first. Returns the last answer.
fn send_for_a_window(client: &mut Client, mode: &str) -> Answer {
    let started = clock::now();
    let mut sent = 0;
    loop {
        let job = digest("window", json!([sent])).with("job_key_mode", mode).with("scheduled_at", "+PT1S");
        let answer = client.enqueue(&job);
        assert_eq!(answer.status, if sent == 0 { 201 } else { 200 }, "{}", answer.body);
        sent += 1;
        // On a busy machine the first may take as long as all of them.
        if sent > 1 && started.elapsed() > Duration::from_millis(600) {
            return answer;
        }
    }
}

#[track_caller]
fn delivered(client: &mut Client) -> Delivery {
    clock::eventually("the window closes", SOON, || client.fetch("default", 1).pop())
}

#[test]
fn with_preserve_run_at_the_window_is_fixed() {
    let server = Server::start();
    let mut client = server.client();
    let last = send_for_a_window(&mut client, "preserve_run_at");
    let job = &last["job"];
    // The request was read a little before it was carried out.
    let ahead = clock::ms_between(&job["created_at"], &job["scheduled_at"]);
    assert!((500..=1_000).contains(&ahead), "the first call decides: {job}");
    let run = delivered(&mut client);
    assert_eq!(run.job["args"], job["args"], "everything that came until then");
    assert!(run.job["args"][0].as_array().is_some_and(|items| items.len() > 1), "{}", run.job);
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn with_replace_and_a_relative_start_the_window_rolls() {
    let server = Server::start();
    let mut client = server.client();
    let last = send_for_a_window(&mut client, "replace");
    let job = &last["job"];
    let came = &job["unique"]["duplicates"]["last_at"];
    let ahead = clock::ms_between(came, &job["scheduled_at"]);
    assert!((500..=1_000).contains(&ahead), "each call moves the start: {job}");
    assert!(clock::ms_between(&job["created_at"], &job["scheduled_at"]) > 1_200, "{job}");
    let run = delivered(&mut client);
    assert_eq!(run.job["args"], job["args"]);
    assert!(run.job["started_at"].as_str() >= job["scheduled_at"].as_str(), "it started early: {}", run.job);
}

#[test]
fn a_payload_that_would_grow_too_large_is_refused_and_nothing_changes() {
    let server = Server::start();
    let mut client = server.client();
    let large = json!(["x".repeat(JOINED_MAX * 3 / 5)]);
    let id = client.create(&digest("name", large.clone()));
    let before = client.job(&id);
    let answer = client.enqueue(&digest("name", large.clone()));
    answer.is_refusal(413, "payload_too_large");
    let details = &answer["error"]["details"];
    assert_eq!(details["job_id"], id.as_str(), "{}", answer.body);
    assert_eq!(details["limit"], JOINED_MAX);
    assert!(details["bytes"].as_u64() > Some(JOINED_MAX as u64), "{details}");
    assert_eq!(client.job(&id), before);
    let small = client.enqueue(&digest("name", json!(["fits"])));
    assert_eq!(small.is(200)["job"]["args"][0][1], "fits");
    // Nothing is joined, so nothing grows.
    let other = client.enqueue(&digest("name", json!({"text": "x".repeat(JOINED_MAX * 3 / 5)})));
    assert_eq!(other.is(200)["outcome"], "updated");
}

#[test]
fn what_was_joined_survives_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&digest("name", json!([0])));
    for number in 1..10 {
        client.enqueue(&digest("name", json!([number]))).is(200);
    }
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.job(&id)["args"], json!([(0..10).collect::<Vec<_>>()]));
    assert_eq!(client.enqueue(&digest("name", json!([10]))).is(200).id(), id);
}
