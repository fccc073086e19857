//! What a worker tells and leaves behind, and what becomes of a job.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::*;

/// The parts of the routes about progress, checkpoints and results.
pub(super) async fn told_on_the_way(play: &mut Play) {
    let job = r#"{"type":"data.migrate","args":[],"total_timeout":3600,"enqueue_ttl":"PT10M","heartbeat_timeout":60,"grace_period":0}"#;
    let id = play.act("POST", "/ojs/v1/jobs", "", job).await.text_at("/job/id");
    play.act("GET", "/ojs/v1/jobs/{id}/progress", &id, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/checkpoint", &id, "").await;
    play.act("GET", "/ojs/v1/checkpoints/{id}/resume", &id, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/result", &id, "").await;
    play.rig.fetch().await;
    let report = r#"{"progress":0.47,"message":"14000 of 30000","data":{"rows": 14000, "share":1.0}}"#;
    play.act("PUT", "/ojs/v1/jobs/{id}/progress", &id, report).await;
    let report = format!(r#"{{"job_id":"{id}","percentage":30,"checkpoint":[1]}}"#);
    play.act("POST", "/ojs/v1/workers/progress", "", &report).await;
    play.act("PUT", "/ojs/v1/jobs/{id}/checkpoint", &id, r#"{"state":{"row": 5,"share":1.0}}"#).await;
    play.act("POST", "/ojs/v1/jobs/{id}/checkpoint", &id, r#"{"state":null}"#).await;
    play.act("GET", "/ojs/v1/jobs/{id}/checkpoint", &id, "").await;
    play.act("DELETE", "/ojs/v1/jobs/{id}/checkpoint", &id, "").await;
    for prefix in ["/ojs/v1", "/ojs/v1/ojs/v1"] {
        let double = prefix != "/ojs/v1";
        let pick = |one: &'static str, other: &'static str| if double { other } else { one };
        let checkpoint = pick("/ojs/v1/checkpoints/{id}", "/ojs/v1/ojs/v1/checkpoints/{id}");
        let resume = pick("/ojs/v1/checkpoints/{id}/resume", "/ojs/v1/ojs/v1/checkpoints/{id}/resume");
        play.act("POST", checkpoint, &id, r#"{"state":{},"step_index":2,"metadata":{"a": 1}}"#).await;
        play.act("GET", resume, &id, "").await;
        play.act("DELETE", checkpoint, &id, "").await;
    }
    play.act("POST", "/ojs/v1/jobs/{id}/ack", &id, r#"{"result":[1.50]}"#).await;
    play.act("GET", "/ojs/v1/jobs/{id}/result?wait=true&timeout=1", &id, "").await;
    play.act("POST", "/ojs/v1/jobs/results", "", &format!(r#"{{"ids":["{id}","unknown"]}}"#)).await;
    let workflow = r#"{"type":"chain","steps":[{"type":"a","args":[]},{"type":"b","args":[]}]}"#;
    let id = play.rig.post("/ojs/v1/workflows", workflow).await.text_at("/workflow/id");
    play.act("GET", "/ojs/v1/workflows/{id}/progress", &id, "").await;
}

#[tokio::test]
async fn the_parts_have_their_shapes() {
    let mut play = Play::new();
    told_on_the_way(&mut play).await;
    insta::assert_snapshot!(play.transcript);
}

async fn put(rig: &Rig, path: &str, body: &str) -> Answer {
    rig.send(request("PUT", path, body).body(Body::from(body.to_owned())).unwrap()).await
}

async fn running(rig: &Rig) -> String {
    let id = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.fetch().await;
    id
}

#[tokio::test]
async fn a_checkpoint_is_deleted_once_and_nothing_the_second_time() {
    let rig = Rig::new();
    let path = format!("/ojs/v1/jobs/{}/checkpoint", running(&rig).await);
    put(&rig, &path, r#"{"state":1}"#).await;
    for deleted in [true, false] {
        let answer = rig.delete(&path).await;
        assert_eq!((answer.status, &answer.json()["deleted"]), (StatusCode::OK, &json!(deleted)));
    }
}

fn value(answer: &Answer) -> Value {
    answer.json()
}

#[tokio::test]
async fn reports_that_say_nothing_or_nonsense_are_refused_with_their_place() {
    let rig = Rig::new();
    let id = running(&rig).await;
    let path = format!("/ojs/v1/jobs/{id}/progress");
    for (body, status, field) in [
        ("{}", 400, "progress"),
        (r#"{"progress":null}"#, 400, "progress"),
        (r#"{"progress":"half"}"#, 400, "progress"),
        (r#"{"progress":0.5,"percentage":50}"#, 400, "percentage"),
        (r#"{"message":5}"#, 400, "message"),
        (r#"{"progress":0.5,"job_id":"another"}"#, 400, "job_id"),
        (&format!(r#"{{"message":"{}"}}"#, "x".repeat(4097)), 413, "message"),
        (&format!(r#"{{"data":"{}"}}"#, "x".repeat(64 << 10)), 413, "data"),
    ] {
        let answer = put(&rig, &path, body).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!(
            (answer.status.as_u16(), answer.text_at("/error/details/field")),
            (status, field.into()),
            "{shown}"
        );
    }
    assert_eq!(value(&rig.get(&path).await)["progress"], json!(null));
}

#[tokio::test]
async fn a_report_with_a_stale_lease_is_refused_and_one_without_is_passed_over() {
    let rig = Rig::new();
    let id = running(&rig).await;
    let path = format!("/ojs/v1/jobs/{id}/progress");
    let stale = put(&rig, &path, r#"{"progress":0.5,"lease":"x"}"#).await;
    assert_eq!((stale.status, stale.text_at("/error/code")), (StatusCode::CONFLICT, "lease_lost".into()));
    rig.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{id}"}}"#)).await;
    let late = put(&rig, &path, r#"{"progress":0.5}"#).await;
    assert_eq!((late.status, value(&late)["progress"].clone()), (StatusCode::OK, json!(null)));
    assert_eq!(put(&rig, "/ojs/v1/jobs/unknown/progress", r#"{"progress":1}"#).await.status, 404);
}

#[tokio::test]
async fn a_checkpoint_has_a_state_and_a_size() {
    let rig = Rig::new();
    let id = running(&rig).await;
    let path = format!("/ojs/v1/jobs/{id}/checkpoint");
    let missing = put(&rig, &path, "{}").await;
    assert_eq!((missing.status.as_u16(), missing.text_at("/error/details/field")), (400, "state".into()));
    let full = format!(r#"{{"state":"{}"}}"#, "x".repeat((1 << 20) - 4));
    assert_eq!(put(&rig, &path, &full).await.status, StatusCode::OK);
    let more = format!(r#"{{"state":"{}"}}"#, "x".repeat((1 << 20) - 1));
    let refused = put(&rig, &path, &more).await;
    assert_eq!((refused.status.as_u16(), refused.text_at("/error/code")), (413, "payload_too_large".into()));
    assert_eq!(value(&rig.get(&path).await)["sequence"], json!(1));
}

#[tokio::test]
async fn a_checkpoint_is_delivered_with_the_next_attempt() {
    let rig = Rig::new();
    let id = running(&rig).await;
    put(&rig, &format!("/ojs/v1/jobs/{id}/checkpoint"), r#"{"state":{"row":1.0}}"#).await;
    rig.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{id}","requeue":true}}"#)).await;
    let again = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await;
    assert!(again.text.contains(r#""checkpoint":{"state":{"row":1.0},"sequence":1,"#), "{}", again.text);
    assert!(again.text.contains(r#""last_checkpoint":{"row":1.0}"#), "{}", again.text);
    let shown = rig.get(&format!("/ojs/v1/jobs/{id}")).await;
    assert!(!shown.text.contains("checkpoint"), "only who works on it needs it");
}

#[tokio::test]
async fn a_result_that_is_too_large_leaves_the_job_running() {
    let rig = Rig::new();
    let id = running(&rig).await;
    let ack = |length: usize| format!(r#"{{"job_id":"{id}","result":"{}"}}"#, "x".repeat(length));
    let refused = rig.post("/ojs/v1/workers/ack", &ack((1 << 20) - 1)).await;
    assert_eq!((refused.status.as_u16(), refused.text_at("/error/code")), (413, "RESULT_TOO_LARGE".into()));
    assert_eq!(rig.get(&format!("/ojs/v1/jobs/{id}")).await.text_at("/job/state"), "active");
    assert_eq!(rig.post("/ojs/v1/workers/ack", &ack((1 << 20) - 2)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_outcome_of_a_failed_job_is_its_error() {
    let rig = Rig::new();
    let id = running(&rig).await;
    let fail = format!(r#"{{"job_id":"{id}","error":{{"code":"FAIL","type":"Gone","message":"no"}}}}"#);
    rig.post("/ojs/v1/workers/nack", &fail).await;
    let outcome = rig.get(&format!("/ojs/v1/jobs/{id}/result")).await;
    assert_eq!((outcome.status, outcome.text_at("/state")), (StatusCode::OK, "discarded".into()));
    assert_eq!(outcome.text_at("/error/type"), "Gone");
}

#[tokio::test]
async fn questions_about_results_have_limits() {
    let rig = Rig::new();
    let ids = vec!["\"x\""; 1001].join(",");
    let many = rig.post("/ojs/v1/jobs/results", &format!(r#"{{"ids":[{ids}]}}"#)).await;
    assert_eq!(many.status, StatusCode::PAYLOAD_TOO_LARGE);
    let id = running(&rig).await;
    for query in ["wait=maybe", "wait=true&timeout=61", "wait=true&timeout=x"] {
        assert_eq!(rig.get(&format!("/ojs/v1/jobs/{id}/result?{query}")).await.status, 400, "{query}");
    }
    let pending = rig.get(&format!("/ojs/v1/jobs/{id}/result?wait=true&timeout=0")).await;
    assert_eq!((pending.status.as_u16(), pending.text_at("/error/code")), (408, "result_pending".into()));
}

#[tokio::test]
async fn limits_on_time_are_whole_seconds() {
    let rig = Rig::new();
    for (member, field) in [
        (r#""total_timeout":0"#, "total_timeout"),
        (r#""total_timeout":10,"timeout":11"#, "total_timeout"),
        (r#""enqueue_ttl":"PT1.5S""#, "enqueue_ttl"),
        (r#""heartbeat_timeout":"soon""#, "heartbeat_timeout"),
        (r#""heartbeat_timeout":[]"#, "heartbeat_timeout"),
        (r#""grace_period":-1"#, "grace_period"),
    ] {
        let body = format!(r#"{{"type":"a","args":[],{member}}}"#);
        let answer = rig.post("/ojs/v1/jobs", &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text_at("/error/details/field")),
            (400, field.into()),
            "{member}"
        );
    }
}
