//! Explanations as they read.

use super::*;

const NOW: &str = "2026-03-01T12:31:00Z";

fn shown(json: &str) -> String {
    let explanation: Explanation = serde_json::from_str(json).unwrap();
    explanation.for_eyes(Timestamp::parse(NOW).unwrap())
}

fn first_line(json: &str) -> String {
    shown(json).lines().next().unwrap().to_owned()
}

#[test]
fn a_duplicate_is_explained_by_its_holders() {
    insta::assert_snapshot!(shown(r#"{
        "outcome": "existing", "unique": true, "key": "abcd", "canonical": "{\"args\":[42],\"type\":\"email.send\"}",
        "rule": {"name": "ignore", "text": "Job 2 is active and has the same key, so it stands for the new one."},
        "states": ["available", "active"], "period": "PT1H", "period_from": "created_at", "job_id": "2",
        "holders": [
            {"job_id": "2", "type": "email.send", "queue": "default", "state": "active", "counts": true,
             "created_at": "2026-03-01T12:00:00.000Z", "why": "Its state is one of those that count."},
            {"job_id": "1", "type": "email.send", "queue": "default", "state": "completed", "counts": false,
             "created_at": "2026-03-01T09:30:00.000Z", "why": "It has ended."}],
        "holders_live": 1, "holders_ended": 1,
        "free": {"now": false, "at": "2026-03-01T13:00:00.000Z", "by": [], "text": "the key becomes free at 2026-03-01T13:00:00.000Z, or earlier when job 2 is completed"}
    }"#), @r#"
    existing: no job would be added; job 2 would be the answer
      rule       ignore: Job 2 is active and has the same key, so it stands for the new one.
      key        abcd
      canonical  {"args":[42],"type":"email.send"}
      states     available, active
      period     PT1H from created_at
      free       the key becomes free at 2026-03-01T13:00:00.000Z (in 29 min), or earlier when job 2 is completed

    2 jobs with this key, 1 live and 1 ended:
    JOB  STATE      TYPE        QUEUE    AGE     COUNTS  WHY
    2    active     email.send  default  31 min  yes     Its state is one of those that count.
    1    completed  email.send  default  3 h     no      It has ended.
    "#);
}

#[test]
fn a_job_that_is_not_unique_has_neither_key_nor_holders() {
    insta::assert_snapshot!(shown(r#"{
        "outcome": "created", "unique": false, "rule": {"name": "none", "text": "The job asks for nothing."},
        "holders": [], "holders_live": 0, "holders_ended": 0
    }"#), @r#"
    created: the job would be enqueued; it is not unique, so nothing stands against it
      rule  none: The job asks for nothing.
    "#);
}

#[test]
fn a_free_key_has_nobody() {
    let text = shown(
        r#"{"outcome": "created", "unique": true, "key": "abcd", "canonical": "{}",
            "rule": {"name": "reject", "text": "Nobody holds the key."}, "holders": [], "holders_live": 0,
            "holders_ended": 0, "free": {"now": true, "text": "It is free."}}"#,
    );
    assert!(text.ends_with("  free       It is free.\n\nno job carries the key\n"), "{text}");
}

#[test]
fn the_first_line_says_what_would_happen() {
    let rest = r#""unique": true, "rule": {"name": "r", "text": "t"}"#;
    for (facts, expected) in [
        (r#""outcome": "created""#, "created: the job would be enqueued"),
        (
            r#""outcome": "created", "waits_for": "7""#,
            "created: the job would be enqueued, and wait until job 7 has ended",
        ),
        (
            r#""outcome": "replaced", "replaced": ["7", "8"]"#,
            "replaced: the job would take the place of 7, 8",
        ),
        (
            r#""outcome": "updated", "job_id": "7", "updated": ["args", "priority"]"#,
            "updated: no job would be added; job 7 would take over: args, priority",
        ),
        (
            r#""outcome": "rejected", "job_id": "7""#,
            "rejected: the enqueue would be refused because of job 7",
        ),
        (
            r#""outcome": "rejected", "error": {"code": "duplicate", "message": "the id is taken"}"#,
            "rejected: the enqueue would be refused (duplicate): the id is taken",
        ),
    ] {
        assert_eq!(first_line(&format!("{{{facts}, {rest}}}")), expected);
    }
}

#[test]
fn more_holders_than_are_shown_are_counted() {
    let text = shown(
        r#"{"outcome": "created", "unique": true, "rule": {"name": "r", "text": "t"}, "holders_live": 0,
            "holders_ended": 250, "holders": [{"job_id": "1", "type": "a", "queue": "b", "state": "completed",
            "counts": false, "created_at": "2026-03-01T09:30:00.000Z", "why": "x"}]}"#,
    );
    assert!(text.contains("\n250 jobs with this key, 0 live and 250 ended; the newest 1:\n"), "{text}");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let text = shown(
        r#"{"outcome": "exi\u001bsting", "unique": true, "canonical": "{\"job_key\":\"a\u009b\"}",
            "rule": {"name": "r", "text": "a\nb\u202e"}, "error": {"code": "\u0007", "message": "\r"}}"#,
    );
    assert!(text.lines().flat_map(str::chars).all(|c| !c.is_control() && c != '\u{202e}'), "{text:?}");
    assert_eq!(text.lines().count(), 5, "{text}");
}
