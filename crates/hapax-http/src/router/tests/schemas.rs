//! Registered schemas, and jobs that are held to them.

use axum::body::Body;
use axum::http::StatusCode;

use crate::testing::{Answer, Rig, request};

const TUPLE: &str = r#"{"type":"array","items":[{"type":"object","required":["to"]}],"minItems":1}"#;

async fn put(rig: &Rig, path: &str, body: &str) -> Answer {
    rig.send(request("PUT", path, body).body(Body::from(body.to_owned())).unwrap()).await
}

/// Registers a schema for `email.send` in a mode.
async fn register(rig: &Rig, version: &str, mode: &str) {
    let body = format!(r#"{{"schema":{TUPLE},"mode":"{mode}"}}"#);
    let answer = put(rig, &format!("/ojs/v1/admin/schemas/email.send/{version}"), &body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
}

async fn enqueue(rig: &Rig, more: &str) -> Answer {
    rig.post("/ojs/v1/jobs", &format!(r#"{{"type":"email.send","args":[{{}}]{more}}}"#)).await
}

#[tokio::test]
async fn a_job_against_a_strict_schema_is_refused_with_the_place() {
    let rig = Rig::new();
    register(&rig, "1", "strict").await;
    let refused = enqueue(&rig, "").await;
    assert!(refused.error().starts_with("422 schema_validation: args[0]: \"to\" is a required property"));
    assert_eq!(refused.text_at("/error/details/schema"), "urn:ojs:schema:email.send:1");
    assert_eq!(refused.text_at("/error/details/validation_errors/0/field"), "args[0]");
    rig.enqueue(r#"{"type":"email.send","args":[{"to":"a"}]}"#).await;
    rig.enqueue(r#"{"type":"other","args":[{}]}"#).await;
}

#[tokio::test]
async fn whoever_only_registers_refuses_nobody() {
    let rig = Rig::new();
    put(&rig, "/ojs/v1/admin/schemas/email.send/1", &format!(r#"{{"schema":{TUPLE}}}"#)).await;
    let taken = enqueue(&rig, "").await;
    assert_eq!(taken.status, StatusCode::CREATED);
    assert!(
        taken.text_at("/warnings/0").starts_with("Schema validation warning: args[0]: "),
        "{}",
        taken.text
    );
    let fine = rig.post("/ojs/v1/jobs", r#"{"type":"email.send","args":[{"to":"a"}]}"#).await;
    assert!(fine.json().get("warnings").is_none(), "{}", fine.text);
}

#[tokio::test]
async fn a_schema_that_is_off_is_for_people() {
    let rig = Rig::new();
    register(&rig, "1", "off").await;
    let taken = enqueue(&rig, "").await;
    assert_eq!(taken.status, StatusCode::CREATED);
    assert!(taken.json().get("warnings").is_none(), "{}", taken.text);
}

#[tokio::test]
async fn the_version_of_the_job_picks_the_schema_and_else_the_latest_counts() {
    let rig = Rig::new();
    register(&rig, "2", "off").await;
    register(&rig, "10", "strict").await;
    assert_eq!(enqueue(&rig, "").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(enqueue(&rig, r#","version":10"#).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(enqueue(&rig, r#","version":"10.0.0""#).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(enqueue(&rig, r#","version":2"#).await.status, StatusCode::CREATED);
    assert_eq!(enqueue(&rig, r#","version":3"#).await.status, StatusCode::CREATED, "nobody registered it");
}

#[tokio::test]
async fn a_job_that_names_a_schema_is_held_to_it() {
    let rig = Rig::new();
    let schema = r#"{"uri":"urn:x:1","type":"other","version":"1.0.0","schema":{"minItems":2}}"#;
    let made = rig.post("/ojs/v1/schemas", schema).await;
    assert_eq!(made.text_at("/schema/version"), "1.0.0");
    let refused = enqueue(&rig, r#","schema":"urn:x:1""#).await;
    assert!(refused.error().starts_with("422 schema_validation: args: "), "{}", refused.text);
    assert_eq!(
        enqueue(&rig, r#","schema":"urn:x:2""#).await.status,
        StatusCode::CREATED,
        "nobody registered it"
    );
    rig.delete("/ojs/v1/schemas/urn%3Ax%3A1").await;
    assert_eq!(enqueue(&rig, r#","schema":"urn:x:1""#).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn jobs_are_held_to_schemas_wherever_they_come_in() {
    let rig = Rig::new();
    register(&rig, "1", "strict").await;
    let (good, bad) =
        (r#"{"type":"email.send","args":[{"to":"a"}]}"#, r#"{"type":"email.send","args":[{}]}"#);
    let batch = rig.post("/ojs/v1/jobs/batch", &format!(r#"{{"jobs":[{good},{bad}]}}"#)).await;
    assert!(batch.error().starts_with("422 schema_validation: jobs[1].args[0]: "), "{}", batch.text);
    let bulk = rig.post("/ojs/v1/jobs/bulk", &format!(r#"{{"jobs":[{bad},{good},{bad}]}}"#)).await;
    assert_eq!(bulk.status, StatusCode::MULTI_STATUS);
    assert_eq!(bulk.text_at("/items/0/error/code"), "schema_validation");
    assert_eq!(bulk.text_at("/items/1/status"), "created");
    assert_eq!(bulk.text_at("/items/2/error/code"), "schema_validation");
    let chain = format!(r#"{{"type":"chain","steps":[{good},{bad}]}}"#);
    let chain = rig.post("/ojs/v1/workflows", &chain).await;
    assert!(chain.error().starts_with("422 schema_validation: steps[1].args[0]: "), "{}", chain.text);
    let cron = r#"{"name":"c","expression":"@hourly","type":"email.send","args":[{}]}"#;
    let cron = rig.post("/ojs/v1/cron", cron).await;
    assert!(cron.error().starts_with("422 schema_validation: args[0]: "), "{}", cron.text);
}

#[tokio::test]
async fn a_remembered_answer_keeps_its_warnings() {
    let rig = Rig::new();
    register(&rig, "1", "warn").await;
    let body = r#"{"jobs":[{"type":"email.send","args":[{}]}]}"#;
    let send = || {
        let request = request("POST", "/ojs/v1/jobs/batch", body).header("idempotency-key", "k");
        rig.send(request.body(Body::from(body)).unwrap())
    };
    let (first, again) = (send().await, send().await);
    assert_eq!(first.text, again.text);
    assert!(first.text_at("/warnings/0").contains("jobs[0].args[0]: "), "{}", first.text);
}

#[tokio::test]
async fn the_latest_falls_back_when_it_is_removed() {
    let rig = Rig::new();
    for version in ["1", "2"] {
        register(&rig, version, "off").await;
    }
    let latest = async || rig.get("/ojs/v1/admin/schemas/email.send").await.json()["version"].clone();
    assert_eq!(latest().await, 2);
    rig.delete("/ojs/v1/admin/schemas/email.send/2").await;
    assert_eq!(latest().await, 1);
    rig.delete("/ojs/v1/admin/schemas/email.send/1").await;
    assert_eq!(rig.get("/ojs/v1/admin/schemas/email.send").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn registrations_of_the_wrong_form_are_refused() {
    let rig = Rig::new();
    let at = "/ojs/v1/admin/schemas/email.send/1";
    for (body, expected) in [
        ("{}", "400 invalid_request: schema: is required"),
        (r#"{"schema":{}}"#, "400 invalid_request: schema: is empty"),
        (r#"{"schema":{"type":"strin"}}"#, "400 invalid_request: schema.type: is not a JSON Schema"),
        (r#"{"schema":true,"mode":"hard"}"#, "400 invalid_request: mode: unknown mode"),
        (r#"{"schema":true,"modes":1}"#, "400 invalid_request: modes: unknown member"),
        (r#"{"schema":{"$ref":"http://x/y"}}"#, "400 invalid_request: schema.$ref: must lead to a place"),
    ] {
        let answer = put(&rig, at, body).await;
        assert!(answer.error().starts_with(expected), "{body}: {}", answer.error());
    }
    let answer = put(&rig, "/ojs/v1/admin/schemas/Email!/1", r#"{"schema":true}"#).await;
    assert!(answer.error().starts_with("400 invalid_request: path.type: "), "{}", answer.error());
    for (body, expected) in [
        (r#"{"type":"a","schema":true}"#, "400 invalid_request: version: is required"),
        (r#"{"version":1,"schema":true}"#, "400 invalid_request: type: is required"),
        (r#"{"type":"a","version":[],"schema":true}"#, "400 invalid_request: version: must be a version"),
        (r#"{"type":"a","version":1,"uri":"x","schema":true}"#, "400 invalid_request: uri: must be a URI"),
    ] {
        let answer = rig.post("/ojs/v1/schemas", body).await;
        assert!(answer.error().starts_with(expected), "{body}: {}", answer.error());
    }
}

#[tokio::test]
async fn a_version_is_taken_once_under_whatever_name() {
    let rig = Rig::new();
    register(&rig, "1", "off").await;
    let schema = r#"{"uri":"urn:x:1","type":"email.send","version":"1.0.0","schema":true}"#;
    let taken = rig.post("/ojs/v1/schemas", schema).await;
    assert!(taken.error().starts_with("409 duplicate: "), "{}", taken.error());
}

#[tokio::test]
async fn a_reset_forgets_schemas() {
    let rig = Rig::new();
    register(&rig, "1", "strict").await;
    rig.post("/ojs/v1/admin/reset", "").await;
    assert_eq!(enqueue(&rig, "").await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn the_sdks_read_every_version_as_text() {
    let rig = Rig::new();
    let made = rig
        .post("/ojs/v1/schemas", r#"{"uri":"urn:x:2","type":"a.b","version":2,"schema":{"type":"array"}}"#)
        .await;
    assert_eq!(
        (made.status.as_u16(), made.text_at("/schema/version")),
        (201, "2".to_owned()),
        "{}",
        made.text
    );
    assert_eq!(rig.get("/ojs/v1/schemas").await.text_at("/schemas/0/version"), "2");
    assert_eq!(rig.get("/ojs/v1/admin/schemas/a.b/2").await.json()["version"], 2, "operators as it was sent");
}
