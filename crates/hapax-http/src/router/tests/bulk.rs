//! Many jobs of which each stands for itself.

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::Limits;
use crate::testing::{Answer, Rig, Setup, request};

const BULK: &str = "/ojs/v1/jobs/bulk";

/// Status, and per item its status, outcome and error code.
fn told(answer: &Answer) -> (u16, Vec<String>) {
    let body = answer.json();
    let items = body["items"].as_array().unwrap();
    assert_eq!(answer.header("x-ojs-batch-size"), Some(items.len().to_string().as_str()));
    assert_eq!(body["total"], items.len());
    assert_eq!(body["succeeded"].as_u64().unwrap() + body["failed"].as_u64().unwrap(), items.len() as u64);
    let line = |(index, item): (usize, &Value)| {
        assert_eq!(item["index"], index);
        let text = |value: &Value| value.as_str().unwrap_or("–").to_owned();
        format!("{} {} {}", text(&item["status"]), text(&item["outcome"]), text(&item["error"]["code"]))
    };
    (answer.status.as_u16(), items.iter().enumerate().map(line).collect())
}

fn job(members: &str) -> String {
    format!(r#"{{"type":"a","args":[[1]],{members}}}"#)
}

fn bulk(jobs: &[String], members: &str) -> String {
    format!(r#"{{"jobs":[{}]{members}}}"#, jobs.join(","))
}

#[tokio::test]
async fn each_job_gets_its_own_answer() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"z","args":[]}"#).await;
    let jobs = [
        job(r#""unique":{}"#),
        job(r#""unique":{"on_conflict":"ignore"}"#),
        job(r#""unique":{}"#),
        job(r#""unique":{"on_conflict":"replace"}"#),
        job(r#""unique":{"replace":["priority"]},"priority":5"#),
        job(&format!(r#""id":"{id}""#)),
        job(r#""unique":{"on_conflct":"ignore"}"#),
        "7".to_owned(),
        job(r#""job_key":"k""#),
        job(r#""job_key":"k""#),
    ];
    let answer = rig.post(BULK, &bulk(&jobs, "")).await;
    let (status, items) = told(&answer);
    assert_eq!(status, 207);
    assert_eq!(
        items,
        [
            "created created –",
            "duplicate existing –",
            "duplicate rejected duplicate",
            "created replaced –",
            "duplicate updated –",
            "failed – duplicate",
            "failed – invalid_request",
            "failed – invalid_request",
            "created created –",
            "duplicate updated –",
        ]
    );
    let body = answer.json();
    assert_eq!((&body["succeeded"], &body["failed"]), (&6.into(), &4.into()));
    let first = &body["items"][0]["job"]["id"];
    assert_eq!(body["items"][2]["error"]["details"]["existing_job_id"], *first);
    assert_eq!(body["items"][3]["replaced"], json!([first]));
    assert_eq!(body["items"][4]["updated"], json!(["priority"]));
    assert_eq!(body["items"][6]["error"]["details"]["field"], "jobs[6].unique.on_conflct");
    assert_eq!(body["items"][6]["error"]["details"]["index"], 6);
    assert_eq!(body["items"][9]["job"]["args"], json!([[1, 1]]));
}

#[tokio::test]
async fn the_error_of_a_rejected_job_is_that_of_a_single_enqueue() {
    let rig = Rig::new();
    rig.enqueue(&job(r#""unique":{}"#)).await;
    let single = rig.post("/ojs/v1/jobs", &job(r#""unique":{}"#)).await.json();
    let many = rig.post(BULK, &bulk(&[job(r#""unique":{}"#)], "")).await.json();
    assert_eq!(many["items"][0]["error"], single["error"]);
}

#[tokio::test]
async fn the_status_says_whether_all_some_or_none_succeeded() {
    let rig = Rig::new();
    let (good, bad) = (job(r#""queue":"q""#), r#"{"type":"a"}"#.to_owned());
    for (jobs, status) in [
        (vec![good.clone(), good.clone()], StatusCode::CREATED),
        (vec![good.clone(), bad.clone()], StatusCode::MULTI_STATUS),
        (vec![bad.clone(), bad.clone()], StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        assert_eq!(rig.post(BULK, &bulk(&jobs, "")).await.status, status);
    }
    let existing = job(r#""unique":{"on_conflict":"ignore"}"#);
    rig.enqueue(&existing).await;
    let answer = rig.post(BULK, &bulk(&[existing.clone(), existing], "")).await;
    assert_eq!(answer.status, StatusCode::CREATED, "answered by a holder, and so not failed");
}

#[tokio::test]
async fn an_atomic_bulk_is_a_batch_in_another_shape() {
    let rig = Rig::new();
    let atomic = r#","atomicity":"atomic""#;
    let unique = job(r#""unique":{}"#);
    let refused = rig.post(BULK, &bulk(&[unique.clone(), unique.clone()], atomic)).await;
    let batch = rig.post("/ojs/v1/jobs/batch", &bulk(&[unique.clone(), unique.clone()], "")).await;
    assert_eq!((refused.status, &refused.text), (StatusCode::CONFLICT, &batch.text));
    let malformed = rig.post(BULK, &bulk(&[unique.clone(), "{}".to_owned()], atomic)).await;
    assert_eq!(
        malformed.error(),
        r#"400 invalid_request: jobs[1].type: is required: the kind of work, such as "email.send""#
    );
    let list = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await;
    assert_eq!(list.text, r#"{"jobs":[]}"#, "nothing of it was stored");
    let accepted = rig.post(BULK, &bulk(&[unique, job(r#""queue":"q""#)], atomic)).await;
    assert_eq!(told(&accepted), (201, vec!["created created –".to_owned(); 2]));
}

#[tokio::test]
async fn a_repeated_bulk_gets_the_first_answer_again_with_every_item() {
    let rig = Rig::new();
    let send = async |key: Option<&str>, body: &str| {
        let mut request = request("POST", BULK, body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    let unique = job(r#""unique":{}"#);
    let jobs = [r#"{"type":"a"}"#.to_owned(), unique.clone(), unique, "[]".to_owned()];
    let plain = bulk(&jobs, "");
    let first = send(Some("k"), &plain).await;
    assert_eq!(told(&first).0, 207);
    let again = send(Some("k"), &plain).await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((told(&again), &again.text), (told(&first), &first.text));

    let named = bulk(&jobs, r#","idempotency_key":"in body""#);
    let first = send(None, &named).await;
    let again = send(None, &named).await;
    assert_eq!((again.header("idempotency-replayed"), &again.text), (Some("true"), &first.text));
    let by_header = send(Some("in body"), &plain).await;
    assert_eq!(by_header.text_at("/error/code"), "idempotency_mismatch", "one name, two bodies");
    let header_wins = send(Some("other"), &named).await;
    assert_eq!(header_wins.header("idempotency-replayed"), None);

    let hopeless = bulk(&jobs[..1], r#","idempotency_key":"hopeless""#);
    assert_eq!(send(None, &hopeless).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(send(None, &hopeless).await.header("idempotency-replayed"), Some("true"));
    let atomic = bulk(&[job(r#""queue":"q""#)], r#","atomicity":"atomic","idempotency_key":"all""#);
    let first = send(None, &atomic).await;
    assert_eq!((told(&send(None, &atomic).await), first.status.as_u16()), (told(&first), 201));
    for key in [String::new(), "k".repeat(257), "é".to_owned()] {
        let body = bulk(&jobs, &format!(r#","idempotency_key":"{key}""#));
        assert_eq!(
            send(None, &body).await.error(),
            "400 invalid_request: idempotency_key: must have 1 to 256 visible ASCII characters"
        );
    }
}

#[tokio::test]
async fn large_bulks_have_the_limits_of_batches() {
    let limits = Limits { job_bytes: 100, request_bytes: 2_000_000, ..Limits::default() };
    let rig = Rig::with(Setup { limits, ..Setup::default() });
    let small = r#"{"type":"a","args":[1]}"#.to_owned();
    let large = format!(r#"{{"type":"a","args":["{}"]}}"#, "x".repeat(100));
    let answer = rig.post(BULK, &bulk(&[small.clone(), large], "")).await;
    assert_eq!(told(&answer).1, ["created created –", "failed – payload_too_large"]);
    let answer = rig.post(BULK, &bulk(&vec![small.clone(); 200], &" ".repeat(300_000))).await;
    assert_eq!((answer.status, &answer.json()["succeeded"]), (StatusCode::CREATED, &200.into()));
    let answer = rig.post(BULK, &bulk(&vec![small; 10_001], "")).await;
    assert_eq!(answer.text_at("/error/code"), "BATCH_SIZE_EXCEEDED");
    assert_eq!(rig.post(BULK, &" ".repeat(2_000_001)).await.text_at("/error/code"), "payload_too_large");
}

#[tokio::test]
async fn requests_about_many_jobs_and_workers_are_told_with_their_figures() {
    let rig = Rig::new();
    let good = || job(r#""priority":1"#);
    rig.post(BULK, &bulk(&[good(), good(), "7".to_owned()], "")).await;
    rig.post(BULK, &bulk(&[good()], r#","atomicity":"atomic""#)).await;
    let id = rig.enqueue(r#"{"type":"z","args":[]}"#).await;
    let cancel = format!(r#"{{"job_ids":["{id}","{id}","nonsense"]}}"#);
    rig.post("/ojs/v1/jobs/bulk/cancel", &cancel).await;
    rig.post("/ojs/v1/workers/register", r#"{"worker_id":"w","queues":["a","b"],"concurrency":3}"#).await;
    rig.post("/ojs/v1/workers/heartbeat", r#"{"worker_id":"w","active_jobs":["x"],"state":"quiet"}"#).await;
    let told = rig.get("/ojs/v1/events?types=bulk.*,worker.*").await.json();
    let said = |event: &Value| (event["type"].clone(), event["data"].clone());
    let said: Vec<_> = told["events"].as_array().unwrap().iter().map(said).collect();
    let each = json!({"total": 3, "succeeded": 2, "failed": 1, "atomicity": "partial"});
    let all = json!({"total": 1, "succeeded": 1, "failed": 0, "atomicity": "atomic"});
    let cancelled = json!({"total": 2, "cancelled": 1, "skipped": 1});
    let started = json!({"worker_id": "w", "queues": ["a", "b"], "concurrency": 3});
    let expected = [
        (json!("bulk.enqueue.completed"), each),
        (json!("bulk.enqueue.completed"), all),
        (json!("bulk.cancel.completed"), cancelled),
        (json!("worker.started"), started),
        (json!("worker.quiet"), json!({"worker_id": "w", "active_jobs": 1})),
        (json!("worker.heartbeat"), json!({"worker_id": "w", "active_jobs": 1, "queues": ["a", "b"]})),
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_change_of_priority_and_a_dead_letter_are_told_with_what_changed() {
    let rig = Rig::new();
    let wish = r#"{"type":"z","args":[],"retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}"#;
    let id = rig.enqueue(wish).await;
    let higher = r#"{"priority":9}"#;
    let path = format!("/ojs/v1/jobs/{id}");
    rig.send(request("PATCH", &path, higher).body(Body::from(higher)).unwrap()).await;
    rig.fetch().await;
    let nack = format!(r#"{{"job_id":"{id}","error":{{"code":"oops","message":"it broke"}}}}"#);
    rig.post("/ojs/v1/workers/nack", &nack).await;
    let told = rig.get("/ojs/v1/events?types=priority.*,dead_letter.*").await.json();
    let changed = json!({
        "job_id": id, "job_type": "z", "queue": "default", "previous_priority": 0, "new_priority": 9
    });
    assert_eq!(told["events"][0]["data"], changed);
    assert_eq!(told["events"][1]["type"], "dead_letter.added");
    assert_eq!(told["events"][1]["data"]["error"]["message"], "it broke");
}
