//! Jobs that have a name.

use axum::http::StatusCode;
use serde_json::json;

use crate::testing::Rig;

fn job(members: &str) -> String {
    format!(r#"{{"type":"a","payload":[1],"job_key":"abc"{members}}}"#)
}

#[tokio::test]
async fn a_waiting_job_takes_over_what_comes_under_its_name() {
    let rig = Rig::new();
    let id = rig.enqueue(&job(r#","scheduled_at":"+PT1H""#)).await;
    let answer = rig.post("/ojs/v1/jobs", &job(r#","job_key_mode":"preserve_run_at","priority":7"#)).await;
    assert_eq!((answer.status, answer.text_at("/job/id")), (StatusCode::OK, id.clone()));
    assert_eq!(answer.text_at("/outcome"), "updated");
    let body = answer.json();
    assert_eq!(body["updated"], json!(["priority", "args", "job_key_mode"]));
    assert_eq!((&body["deduplicated"], &body["job"]["args"]), (&true.into(), &json!([[1, 1]])));
    assert_eq!(answer.text_at("/job/scheduled_at"), "2027-01-15T09:00:00.000Z");
    assert_eq!(answer.text_at("/job/job_key_mode"), "preserve_run_at");

    let answer = rig.post("/ojs/v1/jobs", &job(r#","job_key_mode":"unsafe_dedupe""#)).await;
    assert_eq!((answer.status, answer.text_at("/outcome")), (StatusCode::OK, "existing".to_owned()));
    assert_eq!(answer.json()["job"]["priority"], 7);
}

#[tokio::test]
async fn beside_a_running_job_another_is_created_and_the_first_loses_its_name() {
    let rig = Rig::new();
    let first = rig.enqueue(&job("")).await;
    rig.fetch().await;
    let second = rig.post("/ojs/v1/jobs", &job("")).await;
    assert_eq!((second.status, second.text_at("/outcome")), (StatusCode::CREATED, "created".to_owned()));
    let old = rig.get(&format!("/ojs/v1/jobs/{first}")).await;
    assert_eq!(old.json().get("job_key"), None);
    assert_eq!(old.text_at("/unique/released/by"), "newer_job");
    assert_eq!(old.json()["max_attempts"], 1);
}

#[tokio::test]
async fn a_job_that_was_read_can_be_sent_again() {
    let rig = Rig::new();
    let id = rig.enqueue(&job("")).await;
    rig.post("/ojs/v1/jobs", &job("")).await;
    let read = async |id: &str| {
        let mut job = rig.get(&format!("/ojs/v1/jobs/{id}")).await.json();
        let job = job["job"].as_object_mut().unwrap();
        job.remove("id");
        serde_json::to_string(&job).unwrap()
    };
    let holds = read(&id).await;
    assert!(holds.contains("uniqueness_key") && holds.contains("job_key"), "{holds}");
    let again = rig.post("/ojs/v1/jobs", &holds).await;
    assert_eq!(again.text_at("/job/id"), id, "{}", again.text);

    let key = again.text_at("/job/unique/uniqueness_key");
    rig.post(&format!("/ojs/v1/unique/keys/{key}/release"), r#"{"reason":"test"}"#).await;
    let lost = read(&id).await;
    assert!(lost.contains("released") && !lost.contains("job_key"), "{lost}");
    let other = rig.post("/ojs/v1/jobs", &lost).await;
    assert_eq!((other.status, other.json()["job"].get("unique")), (StatusCode::CREATED, None));

    let debounced = r#"{"type":"b","args":[],"unique":{"debounce":{"wait":10}}}"#;
    let id = rig.enqueue(debounced).await;
    let again = rig.post("/ojs/v1/jobs", &read(&id).await).await;
    assert_eq!(again.text_at("/job/id"), id, "{}", again.text);
}

#[tokio::test]
async fn a_name_is_removed_with_its_job_unless_that_runs() {
    let rig = Rig::new();
    let waiting = rig.enqueue(r#"{"type":"a","args":[],"job_key":"é/ü ?"}"#).await;
    let path = "/ojs/v1/job-keys/%C3%A9%2F%C3%BC%20%3F";
    let removed = rig.delete(path).await.json();
    assert_eq!(removed, json!({"job_key": "é/ü ?", "removed": [waiting], "released": []}));
    assert_eq!(rig.get(&format!("/ojs/v1/jobs/{waiting}")).await.status, StatusCode::NOT_FOUND);
    let gone = rig.delete(path).await;
    assert_eq!(gone.error(), "404 not_found: no job holds this key");

    let running = rig.enqueue(&job("")).await;
    rig.fetch().await;
    let removed = rig.delete("/ojs/v1/job-keys/abc").await.json();
    assert_eq!(removed, json!({"job_key": "abc", "removed": [], "released": [running]}));
    let job = rig.get(&format!("/ojs/v1/jobs/{running}")).await;
    assert_eq!(
        (job.text_at("/state"), job.text_at("/unique/released/by")),
        ("active".into(), "removal".into())
    );

    for path in
        ["/ojs/v1/job-keys/", &format!("/ojs/v1/job-keys/{}", "x".repeat(513)), "/ojs/v1/job-keys/%ff"]
    {
        assert_eq!(rig.delete(path).await.text_at("/error/code"), "invalid_request", "{path}");
    }
}

#[tokio::test]
async fn a_name_is_no_policy_and_a_policy_is_no_name() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[],"unique":{"key":"abc"}}"#).await;
    rig.enqueue(&job("")).await;
    assert_eq!(rig.delete("/ojs/v1/job-keys/abc").await.json()["removed"].as_array().unwrap().len(), 1);
    assert_eq!(rig.delete("/ojs/v1/job-keys/abc").await.status, StatusCode::NOT_FOUND);
}
