//! Jobs that are agents.

use crate::testing::Rig;

#[tokio::test]
async fn what_is_said_of_an_agent_has_to_be_an_object() {
    let rig = Rig::new();
    for agent in ["7", "\"s\"", "[]", "null"] {
        let body = format!(r#"{{"type":"a.b","args":[],"ext_agent_v2":{agent}}}"#);
        let answer = rig.post("/ojs/v1/jobs", &body).await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.text_at("/error/details/field"), "ext_agent_v2");
    }
    let pending = rig.enqueue(r#"{"type":"a.b","args":[],"pending":true}"#).await;
    let answer = rig.post(&format!("/ojs/v1/agents/{pending}/resume"), r#"{"approved":true}"#).await;
    assert!(answer.error().contains("is pending and is not a paused agent"), "{}", answer.text);
}

#[tokio::test]
async fn a_merge_of_the_wrong_form_names_the_place() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a.b","args":[]}"#).await;
    let path = format!("/ojs/v1/agents/{id}/merge");
    let other = "01900000-0000-7000-8000-000000000000";
    for (body, problem) in [
        (format!(r#"{{"branch_a":"{id}","strategy":"ours"}}"#), "400 invalid_request: branch_b"),
        (
            format!(r#"{{"branch_a":"x","branch_b":"{id}","strategy":"ours"}}"#),
            "400 invalid_request: branch_a",
        ),
        (
            format!(r#"{{"branch_a":"{id}","branch_b":"{id}","strategy":"ours"}}"#),
            "400 invalid_request: branch_b: is the same",
        ),
        (format!(r#"{{"branch_a":"{id}","branch_b":"{other}"}}"#), "400 invalid_request: strategy"),
        (
            format!(r#"{{"branch_a":"{id}","branch_b":"{other}","strategy":"our"}}"#),
            "400 invalid_request: strategy",
        ),
        (
            format!(r#"{{"branch_a":"{id}","branch_b":"{other}","strategy":"ours","x":1}}"#),
            "400 invalid_request: x",
        ),
        (format!(r#"{{"branch_a":"{id}","branch_b":"{other}","strategy":"ours"}}"#), "404 not_found"),
    ] {
        let answer = rig.post(&path, &body).await;
        assert!(answer.error().starts_with(problem), "{body}: {}", answer.error());
    }
}

#[tokio::test]
async fn a_job_of_another_tenant_is_no_branch_whatever_it_says() {
    let rig = Rig::new();
    let own = rig.enqueue(r#"{"type":"a.b","args":[],"meta":{"tenant_id":"acme"}}"#).await;
    let forged = format!(
        r#"{{"type":"a.b","args":[],"meta":{{"tenant_id":"globex"}},"ext_agent_v2":{{"branch":{{"of":"{own}"}}}}}}"#
    );
    let forged = rig.enqueue(&forged).await;
    let merge = format!(r#"{{"branch_a":"{own}","branch_b":"{forged}","strategy":"theirs"}}"#);
    let answer = rig.post(&format!("/ojs/v1/agents/{own}/merge"), &merge).await;
    assert_eq!(answer.status, 404, "{}", answer.text);
}
