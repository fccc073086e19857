//! The list of recurring jobs, for clients that go by name, by number of items and by number of pages.

use crate::testing::Rig;

/// A server with the recurring jobs `a` to `e`.
async fn five() -> Rig {
    let rig = Rig::new();
    for name in ["a", "b", "c", "d", "e"] {
        let body = format!(r#"{{"name":"{name}","cron":"0 0 1 1 *","type":"a.b","args":[]}}"#);
        assert_eq!(rig.post("/ojs/v1/cron", &body).await.status, 201);
    }
    rig
}

/// The names on a page, and what it says of its place.
async fn page(rig: &Rig, query: &str) -> (String, String) {
    let answer = rig.get(&format!("/ojs/v1/cron?{query}")).await;
    assert_eq!(answer.status, 200, "{query}: {answer:?}");
    let json = answer.json();
    let names: Vec<&str> =
        json["cron_jobs"].as_array().unwrap().iter().map(|cron| cron["name"].as_str().unwrap()).collect();
    let place = &json["pagination"];
    let place =
        ["total", "limit", "offset", "page", "has_more", "next_cursor"].map(|name| place[name].to_string());
    (names.concat(), place.join(" "))
}

#[tokio::test]
async fn a_page_begins_after_as_many_as_the_client_says() {
    let rig = five().await;
    for (query, names, place) in [
        ("limit=2&offset=0", "ab", r#"5 2 0 1 true "b""#),
        ("limit=2&offset=2", "cd", r#"5 2 2 2 true "d""#),
        ("limit=2&offset=4", "e", "5 2 4 3 false null"),
        ("limit=2&offset=5", "", "5 2 5 3 false null"),
        ("limit=2&offset=9999", "", "5 2 9999 5000 false null"),
        ("per_page=2&page=1", "ab", r#"5 2 0 1 true "b""#),
        ("per_page=2&page=3", "e", "5 2 4 3 false null"),
        ("cursor=b&limit=2", "cd", r#"5 2 0 1 true "d""#),
        ("cursor=b&limit=2&page=1", "cd", r#"5 2 0 1 true "d""#),
    ] {
        assert_eq!(page(&rig, query).await, (names.to_owned(), place.to_owned()), "{query}");
    }
}

#[tokio::test]
async fn a_page_that_begins_twice_or_too_far_away_is_refused() {
    let rig = five().await;
    for (query, field) in [
        ("cursor=b&offset=2", "offset"),
        ("cursor=b&page=2", "page"),
        ("offset=10001", "offset"),
        ("page=9000", "page"),
        ("page=0", "page"),
    ] {
        let answer = rig.get(&format!("/ojs/v1/cron?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        assert_eq!(answer.text_at("/error/details/field"), format!("query.{field}"), "{query}");
    }
}

#[tokio::test]
async fn what_was_read_can_be_sent_back_and_is_as_unique_as_before() {
    let rig = Rig::new();
    let policy = r#""unique":{"keys":["type","args"],"period":"PT1H","on_conflict":"reject"}"#;
    let key = r#""job_key":"k","job_key_mode":"preserve_run_at""#;
    for (name, own) in [("policy", policy), ("key", key)] {
        let body = format!(r#"{{"name":"{name}","cron":"@daily","type":"a.b","args":[],{own}}}"#);
        let registered = rig.post("/ojs/v1/cron", &body).await;
        assert_eq!(registered.status, 201, "{}", registered.text);
        let template = &registered.json()["cron_job"]["job_template"];
        assert!(
            template["options"].get(if name == "key" { "job_key" } else { "unique" }).is_some(),
            "{template}"
        );
        let again = format!(r#"{{"name":"{name}","cron":"@daily","job_template":{template}}}"#);
        let again = rig.post("/ojs/v1/cron", &again).await;
        assert_eq!(again.status, 200, "{}", again.text);
        assert_eq!(&again.json()["cron_job"]["job_template"], template);
    }
}

#[tokio::test]
async fn a_run_that_the_queue_does_not_take_says_why() {
    let rig = Rig::new();
    let body = r#"{"name":"n","cron":"@daily","type":"a.b","args":[],"queue":"mail"}"#;
    assert_eq!(rig.post("/ojs/v1/cron", body).await.status, 201);
    assert_eq!(rig.post("/ojs/v1/queues/mail/drain", "").await.status, 200);
    let ran = rig.post("/ojs/v1/cron/n/run", "").await;
    assert_eq!(ran.status, 200);
    assert_eq!(ran.json()["triggered"].as_bool(), Some(false));
    assert_eq!(ran.text_at("/reason"), "queue_draining");
    assert_eq!(ran.text_at("/message"), "queue mail is being emptied and takes no jobs");
    assert!(ran.json().get("existing_job_id").is_none());
}

#[tokio::test]
async fn a_recurring_job_may_have_no_arguments() {
    let rig = Rig::new();
    for body in [
        r#"{"name":"a","cron":"0 0 1 1 *","type":"a.b"}"#,
        r#"{"name":"b","cron":"0 0 1 1 *","job_template":{"type":"a.b"}}"#,
    ] {
        let answer = rig.post("/ojs/v1/cron", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        let name = answer.text_at("/cron_job/name");
        let run = rig.post(&format!("/ojs/v1/cron/{name}/run"), "").await;
        assert!(run.text.contains(r#""args":[]"#), "{}", run.text);
    }
}
