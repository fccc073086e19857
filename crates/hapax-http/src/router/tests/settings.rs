//! Settings of queues: what a change leaves alone, and what it cannot mean.

use axum::body::Body;
use serde_json::json;

use crate::testing::{Answer, Rig, request};

const CONFIG: &str = "/ojs/v1/queues/q/config";

async fn put(rig: &Rig, path: &str, body: &str) -> Answer {
    rig.send(request("PUT", path, body).body(Body::from(body.to_owned())).unwrap()).await
}

/// The member of the settings after the change.
async fn after(rig: &Rig, member: &str, change: &str) -> serde_json::Value {
    let answer = put(rig, CONFIG, change).await;
    assert_eq!(answer.status, 200, "{change}: {}", answer.text);
    answer.json()["config"][member].clone()
}

#[tokio::test]
async fn a_change_leaves_alone_what_it_does_not_mention_one_level_down_too() {
    let rig = Rig::new();
    after(&rig, "", r#"{"backpressure":{"max_depth":9,"strategy":"drop_oldest","warning_threshold":0.5}}"#)
        .await;
    let pressure = after(&rig, "backpressure", r#"{"backpressure":{"max_depth":2}}"#).await;
    assert_eq!(pressure, json!({"max_depth": 2, "strategy": "drop_oldest", "warning_threshold": 0.5}));
    let pressure = after(&rig, "backpressure", r#"{"max_size":null,"backpressure":{"strategy":null}}"#).await;
    assert_eq!(pressure, json!({"warning_threshold": 0.5}));
    let pressure = after(&rig, "backpressure", r#"{"backpressure":null}"#).await;
    assert_eq!(pressure, json!(null));
    after(&rig, "", r#"{"retention":{"completed":"P1D","discarded":"P2D"}}"#).await;
    let kept = after(&rig, "retention", r#"{"retention":{"completed":"PT1H","discarded":null}}"#).await;
    assert_eq!(kept, json!({"completed": "PT1H"}));
}

#[tokio::test]
async fn a_queue_that_is_made_again_stays_paused() {
    let rig = Rig::new();
    assert_eq!(rig.post("/ojs/v1/queues/q/pause", "{}").await.status, 200);
    assert_eq!(rig.post("/ojs/v1/queues", r#"{"name":"q"}"#).await.status, 201);
    let queue = rig.get("/ojs/v1/queues/q").await;
    assert_eq!(queue.json()["queue"]["paused"], json!(true), "{}", queue.text);
    assert_eq!(rig.post("/ojs/v1/queues", r#"{"name":"new"}"#).await.status, 201);
    assert_eq!(rig.get("/ojs/v1/queues/new").await.status, 200);
}

#[tokio::test]
async fn the_retry_of_a_queue_changes_member_by_member() {
    let rig = Rig::new();
    after(&rig, "", r#"{"default_retry":{"max_attempts":7,"backoff":"linear","initial_interval":"PT9S"}}"#)
        .await;
    let policy = after(&rig, "default_retry", r#"{"default_retry":{"on_exhaustion":"dead_letter"}}"#).await;
    let said = (&policy["max_attempts"], &policy["on_exhaustion"], &policy["backoff_strategy"]);
    assert_eq!(said, (&json!(7), &json!("dead_letter"), &json!("linear")), "{policy}");
    let policy = after(&rig, "default_retry", r#"{"default_retry":{"max_attempts":null}}"#).await;
    assert_eq!(
        (&policy["max_attempts"], &policy["initial_interval"]),
        (&json!(3), &json!("PT9S")),
        "{policy}"
    );
    let policy = after(&rig, "default_retry", r#"{"default_retry":{"initial_interval":"PT1H"}}"#).await;
    assert_eq!(policy["max_interval"], "PT1H", "a long first pause raises the cap: {policy}");
    let refused = put(&rig, CONFIG, r#"{"default_retry":{"max_interval":"PT1S"}}"#).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert_eq!(after(&rig, "default_retry", r#"{"default_retry":null}"#).await, json!(null));
    let typo = put(&rig, CONFIG, r#"{"default_retry":{"max_attempt":5}}"#).await;
    let said = (typo.status.as_u16(), typo.text_at("/error/details/field"));
    assert_eq!(said, (422, "default_retry.max_attempt".to_owned()), "{}", typo.text);
}

#[tokio::test]
async fn a_pattern_that_no_type_can_match_is_refused() {
    let rig = Rig::new();
    for pattern in ["pay ment", "Pay.*", "payment.", "9*", "a..*", "pay ment*"] {
        let refused = put(&rig, CONFIG, &format!(r#"{{"allowed_job_types":["a","{pattern}"]}}"#)).await;
        let said = (refused.status.as_u16(), refused.text_at("/error/details/field"));
        assert_eq!(said, (400, "allowed_job_types[1]".to_owned()), "{pattern}: {}", refused.text);
        assert!(refused.text_at("/error/message").contains(pattern), "{}", refused.text);
    }
    for pattern in ["payment", "payment.*", "pay*", "a.b-*", "*"] {
        let answer = put(&rig, CONFIG, &format!(r#"{{"allowed_job_types":["{pattern}"]}}"#)).await;
        assert_eq!(answer.status, 200, "{pattern}: {}", answer.text);
    }
}

#[tokio::test]
async fn no_job_at_a_time_means_the_same_wherever_it_is_said() {
    let rig = Rig::new();
    let limit = "/ojs/v1/admin/queues/q/rate-limit";
    assert_eq!(put(&rig, limit, r#"{"concurrency":0}"#).await.status, 200);
    let read = rig.get(CONFIG).await.json()["config"].clone();
    assert_eq!(read["concurrency"], 0, "{read}");
    assert_eq!(after(&rig, "concurrency", &read.to_string()).await, json!(0), "sent back as it was read");
    assert_eq!(rig.get(limit).await.json()["concurrency"], 0);
    assert_eq!(after(&rig, "concurrency", r#"{"concurrency":null}"#).await, json!(null));
}

#[tokio::test]
async fn a_deletion_without_a_word_hears_which_words_there_are() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[],"queue":"q"}"#).await;
    let refused = rig.delete("/ojs/v1/queues/q").await;
    assert_eq!(refused.error(), "400 invalid_request: strategy: is required: reject, discard or move");
}

#[tokio::test]
async fn one_job_is_one_job() {
    let rig = Rig::new();
    put(&rig, CONFIG, r#"{"max_size":1}"#).await;
    rig.enqueue(r#"{"type":"a","args":[],"queue":"q"}"#).await;
    let full = rig.post("/ojs/v1/jobs", r#"{"type":"a","args":[],"queue":"q"}"#).await;
    assert_eq!(full.text_at("/error/message"), "1 job waits in queue q, which takes 1");
    let kept =
        request("DELETE", "/ojs/v1/queues/q", "{}").body(Body::from(r#"{"strategy":"reject"}"#)).unwrap();
    let kept = rig.send(kept).await;
    assert_eq!(kept.text_at("/error/message"), "queue q has 1 job that has not ended");
}

#[tokio::test]
async fn what_would_mean_the_opposite_of_what_it_says_is_refused() {
    let rig = Rig::new();
    for (body, place) in [
        (r#"{"allowed_job_types":[]}"#, "allowed_job_types"),
        (r#"{"default_timeout":0}"#, "default_timeout"),
        (r#"{"default_timeout_ms":0}"#, "default_timeout_ms"),
    ] {
        let refused = put(&rig, CONFIG, body).await;
        assert_eq!(
            (refused.status.as_u16(), &*refused.text_at("/error/details/field")),
            (400, place),
            "{body}"
        );
    }
    assert_eq!(put(&rig, CONFIG, r#"{"allowed_job_types":null,"default_timeout":null}"#).await.status, 200);
}

#[tokio::test]
async fn a_job_that_was_put_off_says_until_when() {
    let rig = Rig::new();
    let limit = r#"{"key":"k","rate":{"limit":1,"period":"PT1H"},"on_limit":"reschedule"}"#;
    let job = format!(r#"{{"type":"a","args":[],"rate_limit":{limit}}}"#);
    rig.enqueue(&job).await;
    let second = rig.enqueue(&job).await;
    let wish = r#"{"queues":["default"],"count":2}"#;
    rig.post("/ojs/v1/workers/fetch", wish).await;
    let job = rig.get(&format!("/ojs/v1/jobs/{second}")).await;
    assert_eq!(job.text_at("/job/state"), "scheduled", "{}", job.text);
    assert!(job.text_at("/job/scheduled_at") > job.text_at("/job/created_at"), "{}", job.text);
}

#[tokio::test]
async fn a_queue_that_takes_no_jobs_says_so_wherever_it_is_shown() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[],"queue":"q"}"#).await;
    rig.post("/ojs/v1/queues/q/drain", "").await;
    for (path, place) in [
        ("/ojs/v1/queues/q", "/queue/status"),
        ("/ojs/v1/queues/q/stats", "/status"),
        ("/ojs/v1/queues", "/queues/0/status"),
        ("/ojs/v1/admin/queues", "/items/0/state"),
        ("/ojs/v1/admin/queues/q", "/state"),
    ] {
        let answer = rig.get(path).await;
        assert_eq!(answer.text_at(place), "draining", "{path}: {}", answer.text);
    }
    assert_eq!(rig.post("/ojs/v1/queues/q/pause", "").await.text_at("/status"), "paused");
    assert_eq!(rig.post("/ojs/v1/admin/queues/q/resume", "").await.text_at("/state"), "draining");
}
