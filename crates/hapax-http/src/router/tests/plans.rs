//! What makes jobs, and what is refused in it: nothing that was sent is passed over in silence.

use axum::body::Body;

use crate::testing::{Rig, request};

const JOB: &str = r#"{"type":"a","args":[]}"#;

/// The answer to a body that is refused: its code and the place that it names.
async fn refusal(rig: &Rig, path: &str, body: &str) -> (String, String) {
    let answer = rig.post(path, body).await;
    assert!(answer.status.is_client_error(), "{body}: {}", answer.text);
    (answer.text_at("/error/code"), answer.text_at("/error/details/field"))
}

#[tokio::test]
async fn what_a_workflow_would_pass_over_is_refused_at_its_place() {
    let rig = Rig::new();
    let callbacks = format!(r#""callbacks":{{"on_complete":{JOB}}}"#);
    let late = r#"{"type":"a","args":[],"depends_on":["x"]}"#;
    for (body, place) in [
        (format!(r#"{{"type":"chain","steps":[{JOB}],{callbacks}}}"#), "callbacks"),
        (format!(r#"{{"type":"group","jobs":[{JOB}],"steps":[{JOB}]}}"#), "steps"),
        (format!(r#"{{"type":"chain","steps":[{JOB}],"surprise":1}}"#), "surprise"),
        (format!(r#"{{"id":"wf_1","type":"chain","steps":[{JOB}]}}"#), "id"),
        (
            format!(r#"{{"steps":[{JOB},{{"id":"g","depends_on":["step-0"],"jobs":[{JOB}]}}]}}"#),
            "steps[1].jobs",
        ),
        (
            format!(r#"{{"type":"chain","steps":[{{"steps":[{JOB},{late}]}}]}}"#),
            "steps[0].steps[1].depends_on",
        ),
        (r#"{"steps":[{"id":"x","type":"a","args":[]}],"jobs":[]}"#.to_owned(), "jobs"),
        (format!(r#"{{"type":"chain","steps":[{{{callbacks}}}]}}"#), "steps[0].jobs"),
        (format!(r#"{{"type":"chain","steps":[{{"steps":[{JOB}],"args":[]}}]}}"#), "steps[0].args"),
        (format!(r#"{{"type":"chain","steps":[{{"type":"b","jobs":[{JOB}]}}]}}"#), "steps[0].type"),
        (format!(r#"{{"type":"chain","steps":[{late}]}}"#), "steps[0].depends_on"),
        (
            format!(r#"{{"type":"batch","jobs":[{JOB}],"callbacks":{{"on_failure":{late}}}}}"#),
            "callbacks.on_failure.depends_on",
        ),
        (
            r#"{"type":"chain","steps":[{"type":"a","args":[],"options":{"depends_on":["x"]}}]}"#.to_owned(),
            "steps[0].options.depends_on",
        ),
        (
            r#"{"type":"group","jobs":[{"type":"a","args":[],"callback_type":"on_failure"}]}"#.to_owned(),
            "jobs[0].callback_type",
        ),
        (format!(r#"{{"steps":[{JOB}],"options":{{"depends_on":["x"]}}}}"#), "options.depends_on"),
        (
            r#"{"type":"group","jobs":[{"type":"a","args":[],"delivery":"at_most_once"}]}"#.to_owned(),
            "jobs[0].delivery",
        ),
    ] {
        let (code, field) = refusal(&rig, "/ojs/v1/workflows", &body).await;
        assert_eq!((code.as_str(), field.as_str()), ("invalid_workflow", place), "{body}");
    }
}

#[tokio::test]
async fn a_plan_that_cannot_be_followed_names_its_list() {
    let rig = Rig::new();
    for (body, place) in [
        (r#"{"type":"chain","steps":[]}"#.to_owned(), "steps"),
        (r#"{"type":"group","jobs":[]}"#.to_owned(), "jobs"),
        (format!(r#"{{"type":"batch","jobs":[{JOB}]}}"#), "callbacks"),
        (
            r#"{"steps":[{"id":"x","type":"a","args":[],"depends_on":["y"]}]}"#.to_owned(),
            "steps[0].depends_on",
        ),
        (
            r#"{"steps":[{"id":"x","type":"a","args":[],"options":{"depends_on":["y"]}}]}"#.to_owned(),
            "steps[0].depends_on",
        ),
        (
            r#"{"steps":[{"id":"x","type":"a","args":[],"callback_type":"on_failure"}]}"#.to_owned(),
            "steps[0].depends_on",
        ),
    ] {
        let (code, field) = refusal(&rig, "/ojs/v1/workflows", &body).await;
        assert_eq!((code.as_str(), field.as_str()), ("invalid_workflow", place), "{body}");
    }
}

#[tokio::test]
async fn what_a_step_waits_for_may_stand_flat_or_under_options() {
    let rig = Rig::new();
    let flat = r#""depends_on":["a"],"callback_type":"on_failure""#;
    let nested = r#""options":{"depends_on":["a"],"callback_type":"on_failure"}"#;
    for said in [flat, nested] {
        let body = format!(
            r#"{{"steps":[{{"id":"a","type":"a","args":[]}},{{"id":"b","type":"b","args":[],{said}}}]}}"#
        );
        let answer = rig.post("/ojs/v1/workflows", &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(answer.text_at("/workflow/type"), "batch", "{}", answer.text);
    }
    let body =
        r#"{"steps":[{"id":"a","type":"a","args":[],"depends_on":[],"options":{"depends_on":["b"]}}]}"#;
    let (_, field) = refusal(&rig, "/ojs/v1/workflows", body).await;
    assert_eq!(field, "steps[0].options.depends_on");
}

#[tokio::test]
async fn a_nested_workflow_may_tell_its_form() {
    let rig = Rig::new();
    let body = format!(r#"{{"type":"chain","steps":[{{"type":"group","name":"n","jobs":[{JOB}]}},{JOB}]}}"#);
    assert_eq!(rig.post("/ojs/v1/workflows", &body).await.status, 201);
}

#[tokio::test]
async fn what_a_recurring_job_would_pass_over_is_refused() {
    let rig = Rig::new();
    let body = format!(r#"{{"name":"n","cron":"@daily","job_template":{JOB},"queue":"q"}}"#);
    let (code, field) = refusal(&rig, "/ojs/v1/cron", &body).await;
    assert_eq!((code.as_str(), field.as_str()), ("invalid_request", "queue"));
    let body = format!(r#"{{"name":"n","cron":"@daily","job_template":{JOB}}}"#);
    assert_eq!(rig.post("/ojs/v1/cron", &body).await.status, 201);
    let (code, field) = refusal(&rig, "/ojs/v1/cron/n/run", r#"{"args":[1]}"#).await;
    assert_eq!((code.as_str(), field.as_str()), ("invalid_request", "args"));
    for body in ["", "{}"] {
        assert_eq!(rig.post("/ojs/v1/cron/n/run", body).await.status, 200, "{body}");
    }
}

#[tokio::test]
async fn settings_that_contradict_each_other_are_refused() {
    let rig = Rig::new();
    let create = |config: &str| format!(r#"{{"name":"q","config":{config}}}"#);
    let contradiction = create(r#"{"backpressure":{"max_depth":5},"max_size":6}"#);
    let (code, field) = refusal(&rig, "/ojs/v1/queues", &contradiction).await;
    assert_eq!((code.as_str(), field.as_str()), ("invalid_request", "config.max_size"));
    let agreement = create(r#"{"backpressure":{"max_depth":5},"max_size":5}"#);
    assert!(rig.post("/ojs/v1/queues", &agreement).await.status.is_success());
}

#[tokio::test]
async fn many_jobs_do_not_wait_for_room() {
    let rig = Rig::new();
    let body = format!(r#"{{"jobs":[{JOB}]}}"#);
    for path in ["/ojs/v1/jobs/batch", "/ojs/v1/jobs/bulk"] {
        let wish = request("POST", path, &body).header("OJS-Block-Timeout", "1");
        let answer = rig.send(wish.body(Body::from(body.clone())).unwrap()).await;
        let said = (answer.status.as_u16(), answer.text_at("/error/details/field"));
        assert_eq!(said, (400, "OJS-Block-Timeout".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_workflow_that_failed_says_why() {
    let rig = Rig::new();
    let once = r#"{"type":"a","args":[],"retry":{"max_attempts":1}}"#;
    let chain = format!(r#"{{"type":"chain","steps":[{JOB},{once},{JOB}]}}"#);
    let path = format!("/ojs/v1/workflows/{}", rig.post("/ojs/v1/workflows", &chain).await.text_at("/id"));
    assert!(rig.get(&path).await.json().pointer("/failed_job_ids").cloned().unwrap_or_default().is_null());
    let first = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await.text_at("/job/id");
    rig.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{first}"}}"#)).await;
    let second = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await.text_at("/job/id");
    let error = r#"{"code":"E_CARD","type":"CardError","message":"no such card"}"#;
    rig.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{second}","error":{error}}}"#)).await;
    let failed = rig.get(&path).await;
    assert_eq!(
        failed.json().pointer("/failed_step_index").cloned().unwrap_or_default(),
        1,
        "{}",
        failed.text
    );
    assert_eq!(
        failed.json().pointer("/failed_job_ids").cloned().unwrap_or_default(),
        serde_json::json!([second])
    );
    for (member, value) in
        [("job_id", &*second), ("step_id", "step-1"), ("code", "E_CARD"), ("message", "no such card")]
    {
        assert_eq!(failed.text_at(&format!("/errors/0/{member}")), value, "{}", failed.text);
    }
    assert_eq!(failed.json().pointer("/errors/0/attempt").cloned().unwrap_or_default(), 1);
    let told = rig.get("/ojs/v1/events?types=workflow.failed").await;
    assert_eq!(told.text_at("/events/0/data/job_id"), second, "{}", told.text);
}

#[tokio::test]
async fn the_start_of_a_workflow_names_the_jobs_that_it_replaced() {
    let rig = Rig::new();
    let unique = r#"{"type":"a","args":[],"unique":{"keys":["type"],"on_conflict":"replace"}}"#;
    let before = rig.enqueue(unique).await;
    let started = rig.post("/ojs/v1/workflows", &format!(r#"{{"type":"group","jobs":[{unique}]}}"#)).await;
    assert_eq!(
        started.json().pointer("/replaced").cloned().unwrap_or_default(),
        serde_json::json!([before]),
        "{}",
        started.text
    );
}

#[tokio::test]
async fn a_run_by_hand_can_be_sent_again() {
    let rig = Rig::new();
    let cron = r#"{"name":"n","cron":"@yearly","type":"a","args":[],"overlap_policy":"allow"}"#;
    assert_eq!(rig.post("/ojs/v1/cron", cron).await.status, 201);
    let run = async |key: &str| {
        let sent = request("POST", "/ojs/v1/cron/n/run", "").header("idempotency-key", key);
        rig.send(sent.body(Body::empty()).unwrap()).await
    };
    let first = run("a").await;
    assert_eq!(first.json().pointer("/triggered").cloned().unwrap_or_default(), true, "{}", first.text);
    let again = run("a").await;
    assert_eq!(
        (again.text.clone(), again.header("idempotency-replayed").unwrap().to_owned()),
        (first.text.clone(), "true".to_owned())
    );
    assert_ne!(run("b").await.text_at("/job_id"), first.text_at("/job_id"));
}
