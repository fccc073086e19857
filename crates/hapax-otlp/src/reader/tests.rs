//! The spans of jobs that a real broker led through their lives.

use hapax_core::{GivenTime, Handback};
use serde_json::Value;

use super::*;
use crate::testing::{PARENT, Rig, draft, rig};

fn follow() -> Rig {
    let rig = rig();
    rig.broker.follow_traces();
    rig
}

/// The spans of everything that happened, as they are sent.
fn spans(rig: &Rig) -> Vec<Value> {
    let mut spans = Vec::new();
    Reader::default().read(&rig.broker.events_after(0, 1000), &mut spans);
    spans.iter().map(|span| serde_json::to_value(span).unwrap()).collect()
}

fn traced(extra: &str) -> String {
    format!(r#"{{"traceparent":"{PARENT}"{extra}}}"#)
}

/// The value of an attribute, as text.
fn attribute<'s>(span: &'s Value, key: &str) -> Option<&'s str> {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key)?;
    found["value"]["stringValue"].as_str().or_else(|| found["value"]["intValue"].as_str())
}

#[tokio::test]
async fn a_job_and_each_attempt_at_it_are_spans_of_the_trace_of_its_client() {
    let rig = follow();
    rig.enqueue(draft(&traced(r#","tracestate":"a=1""#))).await;
    rig.pass(250);
    let job = rig.start().await;
    rig.pass(40);
    rig.fail(&job, Handback::Failed).await;
    let shown: Vec<String> =
        spans(&rig).iter().map(|span| serde_json::to_string_pretty(span).unwrap()).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[tokio::test]
async fn a_job_without_a_trace_begins_one_that_has_its_own_digits() {
    let rig = follow();
    let id = rig.enqueue(draft("{}")).await;
    for _ in 0..2 {
        let job = rig.start().await;
        rig.fail(&job, Handback::Requeue).await;
    }
    let job = rig.start().await;
    rig.complete(&job).await;
    let spans = spans(&rig);
    let (root, attempts) = spans.split_first().unwrap();
    assert_eq!((attempts.len(), root.get("parentSpanId")), (3, None));
    assert_eq!(root["traceId"], id.to_string().replace('-', ""));
    let mut names: Vec<&Value> = attempts.iter().map(|span| &span["spanId"]).collect();
    names.dedup();
    assert_eq!(names.len(), 3, "each has a name of its own: {names:?}");
    for span in attempts {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&root["traceId"], &root["spanId"]));
        assert_eq!(span.get("links"), None);
    }
}

#[tokio::test]
async fn how_an_attempt_ended_is_its_status() {
    let rig = follow();
    let drafted = || draft("{}");
    rig.enqueue(drafted()).await;
    let job = rig.start().await;
    rig.fail(&job, Handback::Requeue).await;
    let job = rig.start().await;
    rig.complete(&job).await;
    let id = rig.enqueue(drafted()).await;
    rig.start().await;
    rig.broker.cancel(id).await.unwrap();
    let mut last = drafted();
    last.spec.retry.max_attempts = 1;
    rig.enqueue(last).await;
    let job = rig.start().await;
    rig.fail(&job, Handback::Failed).await;
    let ends: Vec<(String, Option<u64>)> = spans(&rig)
        .iter()
        .filter(|span| span["name"] == "default process")
        .map(|span| (attribute(span, "ojs.job.state").unwrap().to_owned(), span["status"]["code"].as_u64()))
        .collect();
    let expected = [("available", None), ("completed", Some(1)), ("cancelled", None), ("discarded", Some(2))];
    assert_eq!(ends, expected.map(|(state, code)| (state.to_owned(), code)));
}

#[tokio::test]
async fn an_attempt_whose_beginning_was_not_seen_is_told_of_by_its_end() {
    let rig = follow();
    rig.enqueue(draft(&traced(""))).await;
    let job = rig.start().await;
    let seen = rig.broker.events_after(0, 1000).events.len();
    rig.pass(40);
    rig.complete(&job).await;
    let (mut reader, mut spans) =
        (Reader { seq: u64::try_from(seen).unwrap(), ..Reader::default() }, Vec::new());
    reader.read(&rig.broker.events_after(reader.seq(), 1000), &mut spans);
    let span = serde_json::to_value(&spans[0]).unwrap();
    assert_eq!(span["startTimeUnixNano"], "1800000000000000000");
    assert_eq!(span["endTimeUnixNano"], "1800000000040000000");
    assert_eq!((attribute(&span, "ojs.job.attempt"), attribute(&span, "ojs.worker.id")), (Some("1"), None));
}

#[tokio::test]
async fn a_failure_that_was_forgotten_is_told_of_by_what_came_of_it() {
    let rig = follow();
    rig.enqueue(draft("{}")).await;
    let job = rig.start().await;
    rig.fail(&job, Handback::Failed).await;
    let mut tail = rig.broker.events_after(0, 1000);
    let failed = tail.events.iter().position(|event| event.kind().name() == "job.failed").unwrap();
    tail.events.drain(..=failed);
    tail.missed = u64::try_from(failed).unwrap() + 1;
    let (mut reader, mut spans) = (Reader::default(), Vec::new());
    reader.read(&tail, &mut spans);
    assert_eq!(spans.len(), 1);
    assert_eq!(attribute(&serde_json::to_value(&spans[0]).unwrap(), "error.type"), Some("oops"));
    assert_eq!(reader.seq(), tail.events.last().unwrap().seq);
}

#[tokio::test]
async fn a_trace_that_is_not_kept_gets_no_spans() {
    let rig = follow();
    rig.enqueue(draft(&traced("").replace("-01\"", "-00\""))).await;
    let job = rig.start().await;
    rig.complete(&job).await;
    assert_eq!(spans(&rig), Vec::<Value>::new());
}

#[tokio::test]
async fn a_job_for_later_says_when() {
    let rig = follow();
    let mut later = draft("{}");
    later.spec.scheduled_at =
        Some(GivenTime::computed(hapax_core::Timestamp::from_millis(1_800_000_060_000)));
    rig.enqueue(later).await;
    let spans = spans(&rig);
    assert_eq!(attribute(&spans[0], "ojs.job.scheduled_at"), Some("2027-01-15T08:01:00.000Z"));
    assert_eq!(attribute(&spans[0], "ojs.job.state"), Some("scheduled"));
}

#[tokio::test]
async fn without_anybody_who_follows_traces_events_say_nothing_of_them() {
    let rig = rig();
    rig.enqueue(draft(&traced(""))).await;
    let told = rig.broker.events_after(0, 1000);
    assert!(!told.events.is_empty() && told.events.iter().all(|event| event.traced.is_none()));
    rig.broker.follow_traces();
    rig.enqueue(draft(&traced(""))).await;
    let newest = rig.broker.events_after(0, 1000).events.pop().unwrap();
    assert!(newest.traced.as_ref().is_some_and(|traced| traced.context.is_some()));
}
