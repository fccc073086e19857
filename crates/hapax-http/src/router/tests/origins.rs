//! Tenants, traces and rules of the operator: what the head of a request and the configuration mean for jobs.

use axum::body::Body;
use axum::http::StatusCode;
use hapax_core::Json;

use crate::testing::{Answer, Rig, Setup, request};
use crate::{Entrance, RefuseRule};

const JOB: &str = r#"{"type":"a","args":[]}"#;

async fn send(rig: &Rig, tenant: &str, method: &str, path: &str, body: &str) -> Answer {
    let request = request(method, path, body).header("x-ojs-tenant", tenant);
    rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn enqueue(rig: &Rig, tenant: &str, body: &str) -> String {
    let answer = send(rig, tenant, "POST", "/ojs/v1/jobs", body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    answer.text_at("/job/id")
}

fn strict() -> Rig {
    let entrance = Entrance { require_tenant: true, ..Entrance::default() };
    Rig::with(Setup { entrance, ..Setup::default() })
}

#[tokio::test]
async fn the_header_stands_in_the_metadata_and_the_rest_stays_to_the_byte() {
    let rig = Rig::new();
    for (meta, expected) in [
        ("", r#""meta":{"tenant_id":"acme"}"#),
        (r#","meta":{ }"#, r#""meta":{ "tenant_id":"acme"}"#),
        (r#","meta":{ "b" :1.0,"a":[ ] }"#, r#""meta":{ "b" :1.0,"a":[ ] ,"tenant_id":"acme"}"#),
        (r#","meta":{"tenant_id" : "acme"}"#, r#""meta":{"tenant_id" : "acme"}"#),
    ] {
        let body = format!(r#"{{"type":"a","args":[]{meta}}}"#);
        let answer = send(&rig, "acme", "POST", "/ojs/v1/jobs", &body).await;
        assert!(answer.text.contains(expected), "{meta}: {}", answer.text);
    }
    let batch = format!(r#"{{"jobs":[{JOB},{JOB}]}}"#);
    let batch = send(&rig, "acme", "POST", "/ojs/v1/jobs/batch", &batch).await;
    assert_eq!(batch.text_at("/jobs/1/meta/tenant_id"), "acme");
}

#[tokio::test]
async fn a_header_against_the_metadata_is_a_contradiction() {
    let rig = Rig::new();
    for meta in [r#""other""#, "7"] {
        let body = format!(r#"{{"type":"a","args":[],"meta":{{"tenant_id":{meta}}}}}"#);
        let answer = send(&rig, "acme", "POST", "/ojs/v1/jobs", &body).await;
        assert!(
            answer.error().starts_with("400 invalid_request: meta.tenant_id: contradicts"),
            "{}",
            answer.error()
        );
    }
    let answer = send(&rig, "a b", "POST", "/ojs/v1/jobs", JOB).await;
    assert!(answer.error().starts_with("400 invalid_request: X-OJS-Tenant: must have"), "{}", answer.error());
}

#[tokio::test]
async fn a_tenant_that_nobody_could_be_is_refused() {
    let rig = Rig::new();
    let job = |meta: &str| format!(r#"{{"type":"a","args":[],"meta":{{{meta}}}}}"#);
    // Kept like this it would be found by some and not by others.
    for meta in [r#""tenant\u005fid":"acme""#, r#""tenant_id":"ac\u006de""#] {
        for answer in [
            send(&rig, "acme", "POST", "/ojs/v1/jobs", &job(meta)).await,
            rig.post("/ojs/v1/jobs", &job(meta)).await,
        ] {
            let error = answer.error();
            assert!(
                error.starts_with("400 invalid_request: meta.tenant_id: must be written without"),
                "{error}"
            );
        }
    }
    for meta in [r#""tenant_id":"not a tenant!""#, r#""tenant_id":"""#] {
        let error = strict().post("/ojs/v1/jobs", &job(meta)).await.error();
        assert!(
            error.starts_with("400 invalid_request: meta.tenant_id: must be the id of a tenant"),
            "{error}"
        );
    }
    assert_eq!(
        strict().post("/ojs/v1/jobs", &job(r#""tenant_id":"acme""#)).await.status,
        StatusCode::CREATED
    );
}

#[tokio::test]
async fn the_events_of_one_job_are_for_its_tenant() {
    let rig = strict();
    let id = enqueue(&rig, "acme", JOB).await;
    let path = format!("/ojs/v1/events/stream?channel=job:{id}");
    assert_eq!(send(&rig, "other", "GET", &path, "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(rig.get(&path).await.status, StatusCode::BAD_REQUEST, "whose it is has to be said");
    assert_eq!(send(&rig, "acme", "GET", &path, "").await.status, StatusCode::OK);
    assert_eq!(rig.get("/ojs/v1/events/stream").await.status, StatusCode::OK, "operators hear all");
}

#[tokio::test]
async fn a_tenant_fetches_its_own_jobs_only() {
    let rig = Rig::new();
    let wish = r#"{"queues":["default"],"count":5}"#;
    let (first, second) = (enqueue(&rig, "b", JOB).await, enqueue(&rig, "a", JOB).await);
    let own = send(&rig, "a", "POST", "/ojs/v1/workers/fetch", wish).await;
    assert_eq!(own.text_at("/jobs/0/id"), second);
    assert_eq!(own.json()["jobs"].as_array().unwrap().len(), 1);
    let all = rig.post("/ojs/v1/workers/fetch", wish).await;
    assert_eq!(all.text_at("/jobs/0/id"), first);
}

#[tokio::test]
async fn jobs_of_another_tenant_are_not_there() {
    let rig = Rig::new();
    let id = enqueue(&rig, "a", JOB).await;
    let body = format!(r#"{{"job_id":"{id}"}}"#);
    let deeds = [
        ("GET", format!("/ojs/v1/jobs/{id}"), ""),
        ("DELETE", format!("/ojs/v1/jobs/{id}"), ""),
        ("POST", format!("/ojs/v1/jobs/{id}/cancel"), ""),
        ("POST", format!("/ojs/v1/jobs/{id}/activate"), ""),
        ("POST", format!("/ojs/v1/jobs/{id}/ack"), ""),
        ("POST", format!("/ojs/v1/jobs/{id}/nack"), ""),
        ("POST", "/ojs/v1/workers/ack".to_owned(), &body),
        ("POST", "/ojs/v1/workers/nack".to_owned(), &body),
        ("GET", format!("/ojs/v1/dead-letter/{id}"), ""),
        ("POST", format!("/ojs/v1/dead-letter/{id}/retry"), ""),
        ("DELETE", format!("/ojs/v1/dead-letter/{id}"), ""),
    ];
    for (method, path, body) in deeds {
        let answer = send(&rig, "b", method, &path, body).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}: {}", answer.text);
    }
    let own = send(&rig, "a", "GET", &format!("/ojs/v1/jobs/{id}"), "").await;
    assert_eq!(own.text_at("/job/state"), "available");
    assert_eq!(rig.get(&format!("/ojs/v1/jobs/{id}")).await.status, StatusCode::OK, "operators see all");
}

#[tokio::test]
async fn jobs_of_other_tenants_are_no_duplicates() {
    let rig = Rig::new();
    let job = r#"{"type":"a","args":[],"unique":{"keys":["type","args"],"on_conflict":"reject"}}"#;
    enqueue(&rig, "a", job).await;
    enqueue(&rig, "b", job).await;
    let again = send(&rig, "a", "POST", "/ojs/v1/jobs", job).await;
    assert!(again.error().starts_with("409 duplicate: "), "{}", again.error());
}

#[tokio::test]
async fn answers_are_remembered_for_the_tenant_who_got_them() {
    let rig = Rig::new();
    let send = async |tenant: &str| {
        let request = request("POST", "/ojs/v1/jobs", JOB).header("x-ojs-tenant", tenant);
        rig.send(request.header("idempotency-key", "k").body(Body::from(JOB)).unwrap())
            .await
            .text_at("/job/id")
    };
    let first = send("a").await;
    assert_ne!(send("b").await, first);
    assert_eq!(send("a").await, first);
}

#[tokio::test]
async fn a_server_may_want_a_tenant_in_every_request_about_jobs() {
    let rig = strict();
    let answer = rig.post("/ojs/v1/jobs", JOB).await;
    assert!(
        answer.error().starts_with("400 invalid_request: meta.tenant_id: is required"),
        "{}",
        answer.error()
    );
    let fetch = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await;
    assert!(fetch.error().starts_with("400 invalid_request: X-OJS-Tenant: is required"), "{}", fetch.error());
    let id = enqueue(&rig, "a", JOB).await;
    assert_eq!(rig.get(&format!("/ojs/v1/jobs/{id}")).await.status, StatusCode::BAD_REQUEST);
    rig.enqueue(r#"{"type":"a","args":[],"meta":{"tenant_id":"a"}}"#).await;
}

#[tokio::test]
async fn a_tenant_is_told_what_was_done_with_its_jobs() {
    let rig = Rig::new();
    let id = enqueue(&rig, "a", JOB).await;
    enqueue(&rig, "a", JOB).await;
    enqueue(&rig, "b", JOB).await;
    send(&rig, "a", "POST", "/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await;
    send(&rig, "a", "POST", &format!("/ojs/v1/jobs/{id}/ack"), "").await;
    let stats = rig.get("/ojs/v1/admin/tenants/a/stats").await.json();
    assert_eq!((&stats["tenant_id"], &stats["total_jobs"]), (&"a".into(), &2.into()));
    let jobs = serde_json::json!({"enqueued":2,"fetched":1,"acknowledged":1,"failed":0,"cancelled":0});
    assert_eq!(stats["jobs"], jobs);
}

#[tokio::test]
async fn a_trace_is_carried_in_the_metadata_unless_the_job_has_its_own() {
    let rig = Rig::new();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (body, expected) in [
        (JOB, format!(r#""meta":{{"traceparent":"{parent}","tracestate":"a=1"}}"#)),
        (
            r#"{"type":"a","args":[],"meta":{"traceparent":"own"}}"#,
            r#""meta":{"traceparent":"own","tracestate":"a=1"}"#.to_owned(),
        ),
    ] {
        let request =
            request("POST", "/ojs/v1/jobs", body).header("traceparent", parent).header("tracestate", "a=1");
        let answer = rig.send(request.body(Body::from(body)).unwrap()).await;
        assert!(answer.text.contains(&expected), "{}", answer.text);
    }
}

#[tokio::test]
async fn jobs_that_the_operator_refuses_are_refused_with_the_reason() {
    let meta = vec![("source".into(), Json::from_trusted("\"legacy\""))];
    let rule = RefuseRule { kind: Some("report.old".into()), meta, message: "use report.new".into() };
    let entrance = Entrance { refuse: vec![rule], ..Entrance::default() };
    let rig = Rig::with(Setup { entrance, conformance: false, ..Setup::default() });
    let old = r#"{"type":"report.old","args":[],"meta":{"source":"legacy"}}"#;
    let refused = rig.post("/ojs/v1/jobs", old).await;
    assert_eq!(refused.error(), "422 refused: the body: use report.new");
    let batch = rig.post("/ojs/v1/jobs/batch", &format!(r#"{{"jobs":[{JOB},{old}]}}"#)).await;
    assert_eq!(batch.error(), "422 refused: jobs[1]: use report.new");
    rig.enqueue(r#"{"type":"report.old","args":[]}"#).await;
    rig.enqueue(r#"{"type":"test.middleware.reject","args":[],"meta":{"ojs_validate":true}}"#).await;
}

#[tokio::test]
async fn the_rule_of_the_suite_is_there_for_the_suite() {
    let rig = Rig::new();
    let job = r#"{"type":"test.middleware.reject","args":[],"meta":{"ojs_validate":true}}"#;
    assert_eq!(rig.post("/ojs/v1/jobs", job).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}
