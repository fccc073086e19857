//! What stands behind the question mark is read or refused.

use serde_json::Value;

use crate::shared::{Access, BodyRule};
use crate::testing::{Rig, request};

/// A server that has something to show in every list, and what stands for the variable parts of paths.
struct Stage {
    rig: Rig,
    id: String,
    key: String,
}

impl Stage {
    async fn new() -> Stage {
        let rig = Rig::new();
        let id = rig
            .enqueue(r#"{"type":"a","args":[],"retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}"#)
            .await;
        rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"],"worker_id":"w"}"#).await;
        let nack = format!(r#"{{"job_id":"{id}","error":{{"type":"E","message":"m"}}}}"#);
        rig.post("/ojs/v1/workers/nack", &nack).await;
        let limited =
            r#"{"type":"a","args":[],"unique":{"keys":["type"]},"rate_limit":{"key":"api","concurrency":1}}"#;
        rig.enqueue(limited).await;
        // Its id is the name of a tenant as well.
        rig.enqueue(&format!(r#"{{"type":"a","args":[],"meta":{{"tenant_id":"{id}"}}}}"#)).await;
        let key = rig.get("/ojs/v1/unique/keys").await.text_at("/keys/0/key");
        for (method, path, body) in [
            ("POST", "/ojs/v1/cron", r#"{"name":"x","cron":"@daily","type":"a","args":[]}"#),
            ("PUT", "/ojs/v1/admin/pools/x", r#"{"queues":[{"name":"default"}]}"#),
            (
                "POST",
                "/ojs/v1/schemas",
                r#"{"uri":"urn:x","type":"t.x","version":"1","schema":{"minItems":1}}"#,
            ),
            ("PUT", "/ojs/v1/rate-limits/api", r#"{"concurrency":2}"#),
            ("POST", "/ojs/v1/webhooks/subscriptions", r#"{"url":"https://e.example/","events":["*"]}"#),
        ] {
            let answer = rig.send(request(method, path, body).body(body.to_owned().into()).unwrap()).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.text);
        }
        Stage { rig, id, key }
    }

    fn path(&self, template: &str) -> String {
        template
            .replace("{id}", &self.id)
            .replace("{key}", &self.key)
            .replace("{name}", "x")
            .replace("{version}", "1")
    }

    /// The names in the query of a route that are described.
    fn described(&self, method: &str, template: &str) -> Vec<String> {
        let document: Value = serde_json::from_slice(self.rig.shared.reference.get().unwrap()).unwrap();
        let operation = &document["paths"][template][method.to_lowercase()];
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let in_query = parameters.iter().filter(|one| one["in"] == "query");
        in_query.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_route_reads_the_names_that_are_described_and_refuses_all_others() {
    let stage = Stage::new().await;
    for route in super::listed(&stage.rig.shared) {
        let (method, template) = (route.method.as_str(), route.template);
        let path = format!("{}?zzzzzzzz=1", stage.path(template));
        let answer = stage.rig.send(request(method, &path, "").body("".into()).unwrap()).await;
        let speaks_of_itself = route.access == Access::Open || !template.starts_with("/ojs/v1/");
        if speaks_of_itself || route.body == BodyRule::Lasting {
            assert!(!answer.text.contains("zzzzzzzz"), "{method} {path}: {}", answer.text);
            continue;
        }
        assert_eq!(answer.text_at("/error/details/field"), "query.zzzzzzzz", "{method} {path}");
        let message = answer.text_at("/error/message");
        let mut known: Vec<&str> = message
            .split_once("known are ")
            .map(|(_, names)| names.split(", ").collect())
            .unwrap_or_default();
        let mut described = stage.described(method, template);
        known.sort_unstable();
        described.sort_unstable();
        assert_eq!(
            known, described,
            "{method} {template}: its description in openapi/operations/, and {message}"
        );
    }
}

/// A value that no list can have for the name.
fn impossible(name: &str) -> &'static str {
    match name {
        "limit" | "per_page" | "page" | "next" => "0",
        "queue" | "worker_id" => "%01",
        _ => "zzzzzzzz",
    }
}

#[tokio::test]
async fn every_name_that_is_described_makes_a_difference() {
    let stage = Stage::new().await;
    let lists = super::listed(&stage.rig.shared).into_iter().filter(|route| route.body == BodyRule::Unused);
    let mut tried = 0;
    for route in lists {
        let path = stage.path(route.template);
        for name in stage.described(route.method.as_str(), route.template) {
            // Nothing is sent here, so there is nothing behind which a page could begin.
            if (route.template, name.as_str()) == ("/ojs/v1/webhooks/deliveries", "cursor") {
                continue;
            }
            let usual = stage.rig.get(&path).await;
            assert!(usual.status.is_success(), "{path}: {}", usual.text);
            let asked = stage.rig.get(&format!("{path}?{name}={}", impossible(&name))).await;
            assert_ne!(asked.text, usual.text, "{path}: {name} is passed over");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

#[tokio::test]
async fn what_the_official_clients_ask_for_is_understood() {
    let stage = Stage::new().await;
    for path in [
        "events?types=job.completed&queues=mail&limit=10",
        "events?page=1&per_page=50",
        "events?type=job.retried&page=2&per_page=50",
        "crons?page=1&per_page=25",
        "unique-jobs?page=1&per_page=25",
        "workflows?state=active&page=1&per_page=25",
        "admin/jobs?state=scheduled&per_page=50&sort=scheduled_at&order=asc",
        "admin/jobs?limit=25&offset=0&exclude_terminal=true",
        "dead-letter?limit=50&offset=0",
        "dead-letter?queue=&limit=50&offset=0",
        "cron?page=2&per_page=10",
        "cron?limit=50&offset=0",
        "schemas?page=1&per_page=5",
        "schemas?limit=50&offset=0",
        "admin/queues?page=2&per_page=10",
        "admin/workers?page=1&per_page=25",
        "admin/jobs?queue=q&state=active&type=a&page=1&per_page=25",
        "admin/dead-letter?page=1&per_page=25",
        "admin/stats/history?period=5m&since=PT1H&queue=q",
        "workflows?page=1&per_page=25",
        "workflows?limit=25",
        "rate-limits?page=1&per_page=25",
        "webhooks/subscriptions?page=1&per_page=25",
        "webhooks/subscriptions?limit=25",
        "admin/jobs?limit=10000",
        "cron?_=1763480000",
    ] {
        let answer = stage.rig.get(&format!("/ojs/v1/{path}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn what_a_change_would_pass_over_is_refused() {
    let stage = Stage::new().await;
    let confirmed = r#"{"confirm":true}"#;
    let path = "/ojs/v1/dead-letter?queue=other";
    let answer = stage.rig.send(request("DELETE", path, confirmed).body(confirmed.into()).unwrap()).await;
    assert_eq!(
        answer.error(),
        "400 invalid_request: query.queue: would be passed over: this path takes no parameters in its query"
    );
    assert_eq!(stage.rig.get("/ojs/v1/dead-letter").await.json()["pagination"]["total"], 1);
}

#[tokio::test]
async fn one_of_two_beginnings_is_not_passed_over() {
    let stage = Stage::new().await;
    for (path, field) in [
        ("dead-letter?page=2&offset=5", "query.page"),
        ("dead-letter?cursor=1.x&offset=5", "query.offset"),
        ("queues?cursor=a&page=3", "query.page"),
        ("cron?cursor=a&offset=3", "query.offset"),
        ("events?after=a&cursor=b", "query.cursor"),
        ("events?limit=5&per_page=6", "query.limit"),
        ("workflows?page=2&offset=2", "query.page"),
        ("workflows?cursor=a&offset=2", "query.offset"),
        ("schemas?cursor=a&page=2", "query.page"),
        ("admin/queues?cursor=a&page=2", "query.page"),
        ("events?after=a&page=2", "query.page"),
        ("dead-letter?page=1000000&limit=1000", "query.page"),
    ] {
        let answer = stage.rig.get(&format!("/ojs/v1/{path}")).await;
        let said = (answer.status.as_u16(), answer.text_at("/error/details/field"));
        assert_eq!(said, (400, field.to_owned()), "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_time_that_is_none_hears_of_every_form() {
    let stage = Stage::new().await;
    for path in ["admin/jobs?since=yesterday", "dead-letter?until=P1X", "admin/stats/history?since=1"] {
        let message = stage.rig.get(&format!("/ojs/v1/{path}")).await.error();
        assert!(message.contains("2026-03-01T09:30:00Z") && message.contains("PT1H"), "{path}: {message}");
    }
    let body = r#"{"filter":{"since":"yesterday"},"dry_run":true}"#;
    let message = stage.rig.post("/ojs/v1/dead-letter/retry", body).await.error();
    assert!(message.contains("2026-03-01T09:30:00Z") && message.contains("PT1H"), "{message}");
    let message = stage.rig.get("/ojs/v1/unique/keys?older_than=old").await.error();
    assert!(message.contains("3600") && message.contains("PT1H"), "{message}");
}

#[tokio::test]
async fn what_would_choose_nothing_on_a_stream_is_refused() {
    let stage = Stage::new().await;
    let message = async |path: &str| {
        let path = stage.path(path);
        stage.rig.send(request("GET", &path, "").body("".into()).unwrap()).await.text_at("/error/message")
    };
    for stream in ["progress", "result"] {
        let path = format!("/ojs/v1/jobs/{{id}}/{stream}/stream?types=job.completed");
        assert!(message(&path).await.starts_with("query.types: chooses nothing here"), "{path}");
        let path = format!("/ojs/v1/jobs/{{id}}/{stream}/stream?tyeps=x");
        assert!(message(&path).await.starts_with("query.tyeps: is not known here; did you mean"), "{path}");
    }
    for name in ["channel", "types", "event_types", "queues", "job_types", "last_event_id"] {
        let said = message(&format!("/ojs/v1/ws?{name}=queue:mail")).await;
        assert!(said.starts_with(&format!("query.{name}: does nothing here; say it in a message")), "{said}");
    }
}

#[tokio::test]
async fn a_stream_goes_on_from_what_a_browser_says_in_its_own_way() {
    let stage = Stage::new().await;
    let ended = stage.path("/ojs/v1/jobs/{id}/result/stream");
    let known = format!("{ended}?lastEventId={}", crate::to_wire::watch::END);
    let answer = stage.rig.send(request("GET", &known, "").body("".into()).unwrap()).await;
    assert_eq!(answer.status, 204, "it has heard all of it: {}", answer.text);
    let gap = "/ojs/v1/events/stream?last_event_id=evt_first&lastEventId=long-ago";
    let answer = stage.rig.send(request("GET", gap, "").body("".into()).unwrap()).await;
    assert_eq!(answer.status, 200, "the newer name counts: {}", answer.text);
}
