//! Explanations as a person reads them.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::testing::Rig;

const EXPLAIN: &str = "/ojs/v1/unique/explain";

/// Scenes in which a job is explained; what is said is written down, with names instead of ids.
struct Talk {
    rig: Rig,
    named: Vec<(String, &'static str)>,
    transcript: String,
}

impl Talk {
    fn new() -> Talk {
        Talk { rig: Rig::new(), named: Vec::new(), transcript: String::new() }
    }

    async fn enqueue(&mut self, name: &'static str, members: &str) -> String {
        let answer = self.rig.post("/ojs/v1/jobs", &job(members)).await;
        assert_eq!(answer.status.as_u16(), 201, "{}", answer.text);
        self.named.push((answer.text_at("/job/id"), name));
        // Later jobs are newer.
        self.rig.pass(Duration::from_millis(1)).await;
        answer.text_at("/job/id")
    }

    async fn explain(&mut self, scene: &str, members: &str) -> Value {
        let answer = self.rig.post(EXPLAIN, &job(members)).await;
        assert_eq!(answer.status.as_u16(), 200, "{}", answer.text);
        let said = answer.json();
        let text = |pointer: &str| said.pointer(pointer).and_then(Value::as_str).unwrap_or("–").to_owned();
        let mut lines = format!("{scene}\n    {}: {}\n", text("/outcome"), text("/rule/text"));
        for holder in said["holders"].as_array().into_iter().flatten() {
            let _infallible = writeln!(lines, "    {}: {}", holder["job_id"], holder["why"]);
        }
        let _infallible = writeln!(lines, "    {}\n", text("/free/text"));
        let lines = self.named.iter().fold(lines, |lines, (id, name)| lines.replace(id, name));
        self.transcript.push_str(&lines);
        said
    }

    async fn nack(&self, id: &str) {
        self.rig.post(&format!("/ojs/v1/jobs/{id}/nack"), r#"{"error":"oops"}"#).await;
    }
}

fn job(members: &str) -> String {
    format!(r#"{{"type":"a","args":[[1]]{}{members}}}"#, if members.is_empty() { "" } else { "," })
}

fn unique(members: &str) -> String {
    format!(r#""unique":{{{members}}}"#)
}

#[tokio::test]
async fn strategies_say_what_they_do_about_which_holder() {
    let mut talk = Talk::new();
    talk.explain("a job that may exist any number of times", "").await;
    talk.explain("nobody has the key", &unique("")).await;
    let a = talk.enqueue("A", &unique(r#""on_conflict":"ignore""#)).await;
    for strategy in ["reject", "ignore", "replace", "replace_except_schedule"] {
        talk.explain(strategy, &unique(&format!(r#""on_conflict":"{strategy}""#))).await;
    }
    talk.explain("replace member", &unique(r#""replace":{"available":["args","priority","tags"]}"#)).await;
    talk.explain("replace member for others", &unique(r#""replace":{"scheduled":["args"]}"#)).await;
    talk.explain("an id that is taken", &format!(r#""id":"{a}",{}"#, unique(""))).await;
    talk.explain("an id that is taken, and nothing else", &format!(r#""id":"{a}""#)).await;
    talk.rig.fetch().await;
    talk.explain("only one state counts", &unique(r#""states":["active"]"#)).await;
    talk.explain("every state counts", &unique(r#""states":"all""#)).await;
    talk.explain("A does not count", &unique(r#""states":["available"]"#)).await;
    talk.rig.post(&format!("/ojs/v1/jobs/{a}/ack"), "").await;
    talk.explain("A has ended", &unique("")).await;
    talk.explain("A has ended and counts", &unique(r#""states":"all","on_conflict":"replace""#)).await;
    talk.enqueue("B", &unique(r#""states":["pending"]"#)).await;
    talk.enqueue("C", &unique(r#""states":["pending"]"#)).await;
    talk.explain("two jobs count", &unique(r#""on_conflict":"replace""#)).await;
    talk.explain("two jobs count for a day", &unique(r#""period":"P1D""#)).await;
    talk.explain("nobody counts", &unique(r#""states":["pending"]"#)).await;
    insta::assert_snapshot!(talk.transcript);
}

#[tokio::test]
async fn windows_say_until_when() {
    let mut talk = Talk::new();
    let scheduled = r#""scheduled_at":"+PT30M","#;
    let a = talk.enqueue("A", &format!("{scheduled}{}", unique(""))).await;
    let open = talk.explain("open", &unique(r#""period":"PT1H""#)).await;
    assert_eq!(open["free"]["at"], "2027-01-15T09:00:00.000Z");
    assert_eq!((&open["period"], &open["period_from"]), (&"PT1H".into(), &"created_at".into()));
    talk.explain("in place", &unique(r#""on_conflict":"replace_except_schedule""#)).await;
    talk.explain("from its start", &unique(r#""period":"PT1H","period_from":"scheduled_at""#)).await;
    talk.explain("from its end", &unique(r#""period":"PT1H","period_from":"finished_at","states":"all""#))
        .await;
    talk.explain("to its end", &unique(r#""period":"PT1H","period_from":"finished_at""#)).await;
    talk.rig.post(&format!("/ojs/v1/jobs/{a}/cancel"), "").await;
    talk.explain("ended", &unique(r#""period":"PT1H","period_from":"finished_at","states":"all""#)).await;
    talk.rig.pass(Duration::from_hours(2)).await;
    let over = talk.explain("over", &unique(r#""period":"PT1H","states":"all""#)).await;
    assert_eq!(over["holders"][0]["window_over_since"], "2027-01-15T09:00:00.000Z");
    talk.explain("kept as long as it is kept", &unique(r#""states":"all","on_conflict":"ignore""#)).await;
    insta::assert_snapshot!(talk.transcript);
}

#[tokio::test]
async fn debouncing_and_queueing_say_what_they_wait_for() {
    let mut talk = Talk::new();
    let debounce = unique(r#""debounce":{"wait":"PT10S","max_wait":"PT1M"}"#);
    talk.explain("the first", &debounce).await;
    talk.enqueue("A", &debounce).await;
    let second = talk.explain("the second", &debounce).await;
    assert_eq!(second["updated"], serde_json::json!(["args", "scheduled_at"]));
    talk.rig.pass(Duration::from_secs(10)).await;
    let a = talk.rig.fetch().await;
    talk.explain("beside one that runs", &debounce).await;
    talk.rig.post(&format!("/ojs/v1/jobs/{a}/ack"), "").await;

    let latest = unique(r#""while_active":"queue_latest","on_conflict":"ignore""#);
    let b = talk.enqueue("B", &latest).await;
    talk.explain("nothing runs", &latest).await;
    talk.rig.fetch().await;
    let queued = talk.explain("something runs", &latest).await;
    assert_eq!(queued["waits_for"], b.as_str());
    talk.enqueue("C", &latest).await;
    let again = talk.explain("something runs and something waits for it", &latest).await;
    assert_eq!(again["waits_for"], b.as_str());
    insta::assert_snapshot!(talk.transcript);
}

#[tokio::test]
async fn job_keys_say_what_their_mode_does() {
    let mut talk = Talk::new();
    let key = |mode: &str| format!(r#""job_key":"k","job_key_mode":"{mode}","retry":{{"max_attempts":1}}"#);
    let modes = ["replace", "preserve_run_at", "unsafe_dedupe"];
    talk.explain("nobody has the name", &key("replace")).await;
    let a = talk.enqueue("A", &key("replace")).await;
    for mode in modes {
        talk.explain(&format!("{mode} of one that waits"), &key(mode)).await;
    }
    talk.rig.fetch().await;
    for mode in modes {
        talk.explain(&format!("{mode} of one that runs"), &key(mode)).await;
    }
    talk.nack(&a).await;
    for mode in modes {
        talk.explain(&format!("{mode} of one that was given up"), &key(mode)).await;
    }
    insta::assert_snapshot!(talk.transcript);
}

#[tokio::test]
async fn a_payload_that_would_grow_too_large_is_said_to() {
    let talk = Talk::new();
    let half = "x".repeat(600_000);
    let job = format!(r#"{{"type":"a","args":[["{half}"]],"job_key":"k"}}"#);
    let id = talk.rig.enqueue(&job).await;
    let said = talk.rig.post(EXPLAIN, &job).await;
    assert_eq!(said.text_at("/outcome"), "rejected");
    assert_eq!(said.text_at("/error/code"), "payload_too_large");
    assert_eq!(
        said.text_at("/rule/text"),
        "the payload of the job that takes it over would grow to 1200009 bytes; the limit is 1048576"
    );
    assert_eq!(said.text_at("/error/details/job_id"), id);
    let refused = talk.rig.post("/ojs/v1/jobs", &job).await;
    assert_eq!(refused.status.as_u16(), 413);
    let details = refused.json()["error"]["details"].clone();
    assert_eq!(details, serde_json::json!({"job_id": id, "bytes": 1_200_009, "limit": 1_048_576}));
}

#[tokio::test]
async fn an_explanation_shows_a_hundred_holders_and_first_of_all_those_that_count() {
    let rig = Rig::new();
    let unrelated = job(&unique(r#""states":["pending"]"#));
    let first = rig.enqueue(&unrelated).await;
    for _ in 0..101 {
        rig.pass(Duration::from_millis(1)).await;
        let id = rig.enqueue(&unrelated).await;
        rig.post(&format!("/ojs/v1/jobs/{id}/cancel"), "").await;
    }
    let said = rig.post(EXPLAIN, &job(&unique(""))).await.json();
    let holders = said["holders"].as_array().unwrap();
    assert_eq!((holders.len(), &holders[99]["job_id"]), (100, &first.as_str().into()));
    assert_eq!((&said["holders_live"], &said["holders_ended"]), (&1.into(), &101.into()));
}
