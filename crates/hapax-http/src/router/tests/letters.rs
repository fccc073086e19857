//! Jobs that somebody takes for dead letters.

use axum::body::Body;

use crate::testing::{Answer, Rig, request};

async fn asked(rig: &Rig, method: &str, path: &str, tenant: &str) -> Answer {
    rig.send(request(method, path, "").header("x-ojs-tenant", tenant).body(Body::empty()).unwrap()).await
}

const WAYS: [(&str, &str); 6] = [
    ("GET", "/ojs/v1/dead-letter/{id}"),
    ("POST", "/ojs/v1/dead-letter/{id}/retry"),
    ("DELETE", "/ojs/v1/dead-letter/{id}"),
    ("GET", "/ojs/v1/admin/dead-letter/{id}"),
    ("POST", "/ojs/v1/admin/dead-letter/{id}/retry"),
    ("DELETE", "/ojs/v1/admin/dead-letter/{id}"),
];

#[tokio::test]
async fn a_job_that_is_no_dead_letter_is_told_with_its_state() {
    let rig = Rig::new();
    let waiting = rig.enqueue(r#"{"type":"a","args":[],"queue":"other"}"#).await;
    let given_up = rig.enqueue(r#"{"type":"a","args":[],"retry":{"max_attempts":1}}"#).await;
    rig.fetch().await;
    rig.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{given_up}","error":"no"}}"#)).await;
    for (id, state) in [(&waiting, "available"), (&given_up, "discarded")] {
        for (method, template) in WAYS {
            let path = template.replace("{id}", id);
            let answer = rig.send(request(method, &path, "").body(Body::empty()).unwrap()).await;
            let expected = format!("404 not_found: job {id} is no dead letter: it is {state}");
            assert_eq!(answer.error(), expected, "{method} {path}");
            assert_eq!(answer.text_at("/error/details/current_state"), state, "{method} {path}");
            assert!(answer.text_at("/error/hint").contains("GET /ojs/v1/jobs/{id}"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_job_of_another_tenant_is_no_more_than_one_that_is_not_there() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[],"meta":{"tenant_id":"acme"}}"#).await;
    let missing = "01900000-0000-7000-8000-000000000000";
    for (method, template) in WAYS {
        let foreign = asked(&rig, method, &template.replace("{id}", &id), "globex").await;
        let absent = asked(&rig, method, &template.replace("{id}", missing), "globex").await;
        assert_eq!(foreign.text.replace(&id, missing), absent.text, "{method} {template}");
    }
}
