//! What clients and workers hear in situations that need more than one request.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;

use crate::testing::{Rig, request};

#[tokio::test]
async fn the_duplicates_of_a_unique_job_are_answered_by_their_strategy() {
    let rig = Rig::new();
    let mut transcript = String::new();
    for strategy in ["reject", "ignore", "use_existing", "replace", "replace_except_schedule"] {
        let job = |schedule: &str| {
            format!(
                r#"{{"type":"a.{strategy}","args":[]{schedule},"unique":{{"on_conflict":"{strategy}"}}}}"#
            )
        };
        let first = rig.enqueue(&job(r#","scheduled_at":"+PT1H""#)).await;
        let answer = rig.post("/ojs/v1/jobs", &job("")).await;
        let _infallible =
            writeln!(transcript, "{strategy}: {}\n", answer.shown().replace(&first, "(the first job)"));
    }
    let job = r#"{"type":"a.update","args":[1],"unique":{"replace":["args"]}}"#;
    let first = rig.enqueue(job).await;
    let answer = rig.post("/ojs/v1/jobs", &job.replace("[1]", "[2]")).await;
    let _infallible =
        writeln!(transcript, "replace member: {}", answer.shown().replace(&first, "(the first job)"));
    insta::assert_snapshot!(transcript);
}

#[tokio::test]
async fn a_batch_with_a_rejected_job_is_refused_whole() {
    let rig = Rig::new();
    let body = r#"{"jobs":[{"type":"a","args":[]},{"type":"b","args":[],"unique":{}},{"type":"b","args":[],"unique":{}}]}"#;
    let answer = rig.post("/ojs/v1/jobs/batch", body).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.json().pointer("/error/details/index"), Some(&2.into()));
    assert_eq!(rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await.text, r#"{"jobs":[]}"#);
    let body = body.replace("unique\":{}", "unique\":{\"on_conflict\":\"ignore\"}");
    let answer = rig.post("/ojs/v1/jobs/batch", &body).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert!(answer.text.ends_with(
        r#""count":3,"outcomes":[{"outcome":"created"},{"outcome":"created"},{"outcome":"existing","deduplicated":true}]}"#
    ), "{}", answer.text);
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer_again() {
    let rig = Rig::new();
    let send = async |path: &str, key: &str, body: &str| {
        let request = request("POST", path, body).header("idempotency-key", key);
        rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    let job = r#"{"type":"a","args":[]}"#;
    let first = send("/ojs/v1/jobs", "k", job).await;
    let again = send("/ojs/v1/jobs", "k", job).await;
    assert_eq!(first.header("idempotency-replayed"), None);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((again.status, &again.text), (StatusCode::CREATED, &first.text));
    assert_eq!(again.header("location"), first.header("location"));

    let other = send("/ojs/v1/jobs", "k", r#"{"type":"b","args":[]}"#).await;
    assert_eq!(other.text_at("/error/code"), "idempotency_mismatch");
    // Keys belong to an operation.
    let batch = send("/ojs/v1/jobs/batch", "k", &format!(r#"{{"jobs":[{job}]}}"#)).await;
    assert_eq!(batch.status, StatusCode::CREATED);

    let unique = r#"{"type":"c","args":[],"unique":{}}"#;
    send("/ojs/v1/jobs", "c1", unique).await;
    let rejected = send("/ojs/v1/jobs", "c2", unique).await;
    let again = send("/ojs/v1/jobs", "c2", unique).await;
    assert_eq!((again.status, &again.text), (StatusCode::CONFLICT, &rejected.text));

    for key in ["", &"k".repeat(257)] {
        assert_eq!(send("/ojs/v1/jobs", key, job).await.status, StatusCode::BAD_REQUEST, "{key}");
    }
    assert_eq!(send("/ojs/v1/jobs", &"k".repeat(256), job).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn an_expired_lease_is_lost_and_a_late_ack_counts_until_somebody_else_has_the_job() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[],"visibility_timeout":60}"#).await;
    let fetch = r#"{"queues":["default"],"count":1}"#;
    let lease = rig.post("/ojs/v1/workers/fetch", fetch).await.text_at("/jobs/0/lease");
    rig.pass(Duration::from_secs(61)).await;
    let second = rig.post("/ojs/v1/workers/fetch", fetch).await;
    assert_eq!(second.json().pointer("/jobs/0/fence"), Some(&2.into()));
    assert_eq!(second.json().get("job"), None, "only who names no count gets the one job twice");
    let ack = format!(r#"{{"job_id":"{id}","lease":"{lease}"}}"#);
    assert_eq!(rig.post("/ojs/v1/workers/ack", &ack).await.text_at("/error/code"), "lease_lost");
    let beat = format!(r#"{{"worker_id":"w","active_jobs":[{{"job_id":"{id}","lease":"{lease}"}}]}}"#);
    assert_eq!(
        rig.post("/ojs/v1/workers/heartbeat", &beat).await.json()["lost_jobs"],
        serde_json::json!([id])
    );
    rig.pass(Duration::from_secs(61)).await;
    let ack = ack.replace(&lease, &second.text_at("/jobs/0/lease"));
    assert_eq!(rig.post("/ojs/v1/workers/ack", &ack).await.text_at("/state"), "completed");
}

#[tokio::test]
async fn a_worker_hears_which_of_its_jobs_was_called_off() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.fetch().await;
    rig.delete(&format!("/ojs/v1/jobs/{id}")).await;
    let beat = format!(r#"{{"worker_id":"w","active_jobs":1,"active_job_ids":["{id}"]}}"#);
    let answer = rig.post("/ojs/v1/workers/heartbeat", &beat).await.json();
    assert_eq!(answer["cancelled_jobs"], serde_json::json!([id]));
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let rig = Rig::new();
    for queue in ["c", "a", "b"] {
        rig.enqueue(&format!(r#"{{"type":"a","args":[],"queue":"{queue}"}}"#)).await;
    }
    let mut names = Vec::new();
    let mut path = "/ojs/v1/queues?limit=2".to_owned();
    loop {
        let page = rig.get(&path).await.json();
        assert_eq!(page["pagination"]["total"], 3);
        names.extend(page["queues"].as_array().unwrap().iter().map(|queue| queue["name"].clone()));
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        path = format!("/ojs/v1/queues?limit=2&cursor={cursor}");
    }
    assert_eq!(names, ["a", "b", "c"]);

    for path in [
        "/ojs/v1/queues?limit=0",
        "/ojs/v1/queues?offset=-1",
        "/ojs/v1/dead-letter?cursor=x",
        "/ojs/v1/dead-letter?queue=A",
    ] {
        assert_eq!(rig.get(path).await.text_at("/error/code"), "invalid_request", "{path}");
    }
}

#[tokio::test]
async fn dead_letters_are_read_page_by_page_newest_first() {
    let rig = Rig::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = rig
            .enqueue(r#"{"type":"a","args":[],"retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}"#)
            .await;
        rig.fetch().await;
        rig.post(&format!("/ojs/v1/jobs/{id}/nack"), "").await;
        rig.pass(Duration::from_millis(5)).await;
        ids.insert(0, id);
    }
    let first = rig.get("/ojs/v1/dead-letter?limit=2").await;
    let second = rig
        .get(&format!("/ojs/v1/dead-letter?limit=2&cursor={}", first.text_at("/pagination/next_cursor")))
        .await;
    let found = [first.text_at("/jobs/0/id"), first.text_at("/jobs/1/id"), second.text_at("/jobs/0/id")];
    assert_eq!(found.as_slice(), ids);
    assert_eq!(second.json()["pagination"]["has_more"], false);
}

#[tokio::test]
async fn attributes_of_a_client_never_stand_beside_those_of_the_server() {
    let rig = Rig::new();
    let mut names: BTreeSet<&str> = hapax_wire::job::SYSTEM_MEMBERS.iter().copied().collect();
    names.extend(["metadata", "x\"y", "é"]);
    let extra: Vec<String> = names.iter().map(|name| format!("{name:?}:\"of the client\"")).collect();
    let extra = extra.join(",");
    let id = rig.enqueue(&format!(r#"{{"type":"a","args":[],"timeout":60,"unique":{{}},{extra}}}"#)).await;
    let job = rig.get(&format!("/ojs/v1/jobs/{id}")).await;
    for kept in ["metadata", "x\"y", "é"] {
        assert_eq!(job.json()[kept], "of the client", "{kept}");
    }
    assert_eq!(job.text.matches("of the client").count(), 2 * 3);
    rig.fetch().await;
    let nack =
        format!(r#"{{"job_id":"{id}","error":{{"code":"DEAD_LETTER","details":{{"stack":"a\nb"}}}}}}"#);
    assert_eq!(rig.post("/ojs/v1/workers/nack", &nack).await.text_at("/state"), "discarded");
    rig.post(&format!("/ojs/v1/dead-letter/{id}/retry"), "").await;
    rig.fetch().await;
    rig.post(&format!("/ojs/v1/jobs/{id}/ack"), r#"{"result":1}"#).await;
    rig.get(&format!("/ojs/v1/jobs/{id}")).await;
}

#[tokio::test]
async fn a_history_shows_what_a_worker_reports_whatever_it_calls_it() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.fetch().await;
    let nack = format!(r#"{{"job_id":"{id}","error":{{"code":"rate_limited","type":"rate_limited"}}}}"#);
    assert_eq!(rig.post("/ojs/v1/workers/nack", &nack).await.status, 200);
    let history = rig.get(&format!("/ojs/v1/jobs/{id}/history")).await.json();
    let failed = history["events"].as_array().unwrap().iter();
    let failed: Vec<_> = failed.filter(|event| event["event_type"] == "job.attempt_failed").collect();
    assert_eq!(failed.len(), 1, "{history}");
    assert_eq!(failed[0]["data"]["error"]["code"], "rate_limited");
}
