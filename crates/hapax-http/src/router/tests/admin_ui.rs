//! What the official admin UI asks for, word for word, and what its pages cannot do without.

use std::time::Duration;

use axum::body::Body;
use serde_json::{Value, json};

use crate::testing::{Answer, Rig, request};

async fn send(rig: &Rig, method: &str, path: &str, body: &str) -> Answer {
    let answer = rig.send(request(method, path, body).body(Body::from(body.to_owned())).unwrap()).await;
    assert!(answer.status.is_success(), "{method} {path}: {}", answer.text);
    answer
}

async fn get(rig: &Rig, path: &str) -> Value {
    send(rig, "GET", path, "").await.json()
}

/// One member of each item of a list.
fn of_items(list: &Value, name: &str) -> Vec<Value> {
    list["items"].as_array().unwrap().iter().map(|item| item[name].clone()).collect()
}

/// What the pages count with.
fn place(list: &Value) -> Value {
    let place = &list["pagination"];
    json!([place["total"], place["page"], place["per_page"]])
}

#[tokio::test]
async fn recurring_jobs_are_listed_flat_switched_and_removed() {
    let rig = Rig::new();
    for name in ["a", "b", "c"] {
        let body = format!(
            r#"{{"name":"{name}","cron":"@daily","type":"t","args":[1],"meta":{{"k":"v"}},"queue":"q","enabled":{}}}"#,
            name != "b"
        );
        send(&rig, "POST", "/ojs/v1/cron", &body).await;
    }
    let list = get(&rig, "/ojs/v1/crons?page=2&per_page=2").await;
    assert_eq!((of_items(&list, "id"), place(&list)), (vec![json!("c")], json!([3, 2, 2])));
    let one = get(&rig, "/ojs/v1/crons/b").await;
    for (name, value) in [
        ("id", json!("b")),
        ("type", json!("t")),
        ("queue", json!("q")),
        ("schedule", json!("@daily")),
        ("timezone", json!("UTC")),
        ("args", json!([1])),
        ("meta", json!({"k": "v"})),
        ("enabled", json!(false)),
    ] {
        assert_eq!(one[name], value, "{name}");
    }
    let switched = send(&rig, "PATCH", "/ojs/v1/crons/b", r#"{"enabled":true}"#).await.json();
    assert_eq!((&switched["enabled"], switched["next_run_at"].is_string()), (&json!(true), true));
    send(&rig, "DELETE", "/ojs/v1/crons/b", "").await;
    assert_eq!(rig.get("/ojs/v1/cron/b").await.status, 404);
}

#[tokio::test]
async fn recurring_jobs_can_be_asked_for_by_whether_they_are_switched_on() {
    let rig = Rig::new();
    for (name, enabled) in [("a", true), ("b", false), ("c", true), ("d", true)] {
        let body = format!(r#"{{"name":"{name}","cron":"@daily","type":"t","enabled":{enabled}}}"#);
        send(&rig, "POST", "/ojs/v1/cron", &body).await;
    }
    for (query, names, total, next) in [
        ("enabled=false", vec!["b"], json!(1), Value::Null),
        ("enabled=true&limit=2", vec!["a", "c"], Value::Null, json!("c")),
        ("enabled=true&limit=2&page=2", vec!["d"], json!(3), Value::Null),
        ("enabled=true&cursor=c", vec!["d"], Value::Null, Value::Null),
    ] {
        let list = get(&rig, &format!("/ojs/v1/cron?{query}")).await;
        let shown: Vec<&str> =
            list["crons"].as_array().unwrap().iter().map(|cron| cron["name"].as_str().unwrap()).collect();
        assert_eq!(shown, names, "{query}");
        let place = &list["pagination"];
        assert_eq!((&place["total"], &place["next_cursor"]), (&total, &next), "{query}");
    }
    let wrong = rig.get("/ojs/v1/cron?enabled=yes").await;
    assert_eq!(wrong.error(), "400 invalid_request: query.enabled: must be true or false");
}

#[tokio::test]
async fn what_runs_is_called_active_where_no_sdk_reads() {
    let rig = Rig::new();
    let chain = r#"{"type":"chain","steps":[{"type":"a","args":[]},{"type":"b","args":[]}]}"#;
    let id = send(&rig, "POST", "/ojs/v1/workflows", chain).await.text_at("/id");
    let shown = get(&rig, &format!("/ojs/v1/workflows/{id}")).await;
    assert_eq!((&shown["state"], &shown["workflow"]["state"]), (&json!("active"), &json!("running")));
    assert_eq!(shown["steps"][0]["job_ids"][0], shown["steps"][0]["job_id"]);
    let negotiated = request("GET", &format!("/ojs/v1/workflows/{id}"), "").header("ojs-version", "1.0");
    let negotiated = rig.send(negotiated.body(Body::empty()).unwrap()).await.json();
    assert_eq!(negotiated["state"], "running");
    let progress = get(&rig, &format!("/ojs/v1/workflows/{id}/progress")).await;
    assert_eq!(progress["steps"][1]["id"], shown["steps"][1]["id"]);
    let list = get(&rig, "/ojs/v1/workflows?state=active&page=1&per_page=25").await;
    assert_eq!((of_items(&list, "state"), place(&list)), (vec![json!("active")], json!([1, 1, 25])));
    assert_eq!(list["workflows"][0]["state"], "running");
    send(&rig, "POST", &format!("/ojs/v1/workflows/{id}/cancel"), "").await;
    for (state, count) in [("active", 0), ("running", 0), ("cancelled", 1), ("pending", 0), ("failed", 0)] {
        let list = get(&rig, &format!("/ojs/v1/workflows?state={state}&page=1&per_page=25")).await;
        assert_eq!((of_items(&list, "id").len(), place(&list)), (count, json!([count, 1, 25])), "{state}");
    }
    let wrong = rig.get("/ojs/v1/workflows?state=actve").await;
    assert_eq!(wrong.text_at("/error/details/field"), "query.state");
}

#[tokio::test]
async fn workflows_are_counted_in_pages() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for _ in 0..5 {
        let one = r#"{"type":"group","jobs":[{"type":"a","args":[]}]}"#;
        made.push(Value::from(send(&rig, "POST", "/ojs/v1/workflows", one).await.text_at("/id")));
        rig.pass(Duration::from_millis(1)).await;
    }
    for (query, from, total) in [
        ("page=2&per_page=2", 2, json!(5)),
        ("page=3&per_page=2", 4, json!(5)),
        ("state=active&page=2&per_page=2", 2, Value::Null),
        ("state=active&page=3&per_page=2", 4, json!(5)),
        ("offset=3", 3, json!(5)),
    ] {
        let list = get(&rig, &format!("/ojs/v1/workflows?{query}")).await;
        let shown = of_items(&list, "id");
        assert_eq!(shown, made[from..from + shown.len()], "{query}");
        assert_eq!(list["pagination"]["total"], total, "{query}");
    }
    let cursor = made[1].as_str().unwrap();
    let rest = get(&rig, &format!("/ojs/v1/workflows?state=active&cursor={cursor}")).await;
    assert_eq!(of_items(&rest, "id"), made[2..]);
    for query in ["cursor=x", "page=2&cursor=x", "offset=10001"] {
        assert_eq!(rig.get(&format!("/ojs/v1/workflows?{query}")).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn what_the_builder_makes_is_started() {
    let rig = Rig::new();
    let jobs = r#"[{"type":"send_email","args":[]},{"type":"unnamed","args":[1]}]"#;
    for (body, form, steps) in [
        (format!(r#"{{"type":"chain","steps":{jobs}}}"#), "chain", 2),
        (format!(r#"{{"type":"group","tasks":{jobs}}}"#), "group", 2),
        (
            format!(r#"{{"type":"batch","tasks":{jobs},"on_complete":{{"type":"callback","args":[]}}}}"#),
            "batch",
            3,
        ),
    ] {
        let made = send(&rig, "POST", "/ojs/v1/workflows", &body).await;
        assert_eq!(made.text_at("/type"), form);
        assert_eq!(made.json()["steps"].as_array().unwrap().len(), steps, "{form}");
    }
    for (body, field) in [
        (format!(r#"{{"type":"group","tasks":{jobs},"jobs":{jobs}}}"#), "tasks"),
        (format!(r#"{{"type":"chain","tasks":{jobs}}}"#), "tasks"),
        (format!(r#"{{"type":"group","tasks":{jobs},"on_complete":{{"type":"c"}}}}"#), "on_complete"),
        (r#"{"type":"group","tasks":[]}"#.to_owned(), "tasks"),
        (r#"{"type":"group","tasks":[{"type":"a","args":1}]}"#.to_owned(), "tasks[0].args"),
        (
            format!(
                r#"{{"type":"batch","jobs":{jobs},"on_complete":{{"type":"c"}},"callbacks":{{"on_complete":{{"type":"c"}}}}}}"#
            ),
            "on_complete",
        ),
    ] {
        let refused = rig.post("/ojs/v1/workflows", &body).await;
        assert_eq!(
            (refused.status.as_u16(), refused.text_at("/error/details/field")),
            (400, field.into()),
            "{body}"
        );
    }
}

#[tokio::test]
async fn pages_of_events_begin_with_the_newest() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for _ in 0..3 {
        made.insert(0, Value::from(rig.enqueue(r#"{"type":"a","args":[]}"#).await));
        rig.pass(Duration::from_mins(1)).await;
    }
    rig.fetch().await;
    let list = get(&rig, "/ojs/v1/events?type=job.enqueued&page=1&per_page=2").await;
    assert_eq!((of_items(&list, "job_id"), place(&list)), (made[..2].to_vec(), json!([3, 1, 2])));
    assert!(list["items"][0]["data"].is_object() && list["items"][0]["timestamp"].is_string());
    assert_eq!(list["events"][1], list["items"][0], "under its own name it runs as ever");
    let rest = get(&rig, "/ojs/v1/events?type=job.enqueued&page=2&per_page=2").await;
    assert_eq!(of_items(&rest, "job_id"), made[2..]);
    let late = get(&rig, "/ojs/v1/events?types=job.enqueued&since=PT90S").await;
    assert_eq!(late["events"].as_array().unwrap().len(), 1);
    assert!(late.get("items").is_none(), "nobody has counted");
    let none = get(&rig, "/ojs/v1/events?type=worker.registered&page=1&per_page=50").await;
    assert_eq!((of_items(&none, "id"), place(&none)), (vec![], json!([0, 1, 50])));
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let since = get(&rig, &format!("/ojs/v1/events?after={}", list["cursor"].as_str().unwrap())).await;
    assert_eq!(since["events"].as_array().unwrap().len(), 1, "{since}");
}

#[tokio::test]
async fn an_attempt_that_follows_another_has_a_word_of_its_own() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let id = rig.fetch().await;
    rig.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{id}","error":"no"}}"#)).await;
    let list = get(&rig, "/ojs/v1/events?type=job.retried&page=1&per_page=50").await;
    assert_eq!(of_items(&list, "type"), ["job.retrying"], "{list}");
    let wish = r#"{"url":"https://example.com/hook","events":["job.retried","job.failed"]}"#;
    let made = send(&rig, "POST", "/ojs/v1/webhooks/subscriptions", wish).await.json();
    assert_eq!(made["events"], json!(["job.retrying", "job.failed"]));
}

#[tokio::test]
async fn held_keys_are_listed_with_the_time_at_which_they_become_free() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for (kind, unique) in [("a", r#"{"period":"PT1H"}"#), ("b", "{}")] {
        let job = format!(r#"{{"type":"{kind}","args":[],"queue":"q","unique":{unique}}}"#);
        made.push(Value::from(rig.enqueue(&job).await));
    }
    let list = get(&rig, "/ojs/v1/unique-jobs?page=1&per_page=25").await;
    assert_eq!((of_items(&list, "job_id"), place(&list)), (made.clone(), json!([2, 1, 25])));
    assert_eq!(of_items(&list, "state"), ["available", "available"]);
    let until: Vec<bool> = of_items(&list, "locked_until").iter().map(Value::is_string).collect();
    assert_eq!(until, [true, false], "the second waits for its job and not for a time");
    let first = get(&rig, "/ojs/v1/unique-jobs?page=1&per_page=1").await;
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    for query in ["page=2&per_page=1".to_owned(), format!("per_page=1&cursor={cursor}")] {
        let second = get(&rig, &format!("/ojs/v1/unique-jobs?{query}")).await;
        assert_eq!(of_items(&second, "job_id"), made[1..], "{query}");
    }
}

#[tokio::test]
async fn subscriptions_are_counted_in_pages_and_put() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for _ in 0..3 {
        let wish = r#"{"url":"https://example.com/hook","events":["job.completed"]}"#;
        let id = send(&rig, "POST", "/ojs/v1/webhooks/subscriptions", wish).await.text_at("/id");
        made.push(Value::from(id));
        rig.pass(Duration::from_millis(1)).await;
    }
    let list = get(&rig, "/ojs/v1/webhooks/subscriptions?page=1&per_page=2").await;
    assert_eq!((of_items(&list, "id"), place(&list)), (made[..2].to_vec(), json!([3, 1, 2])));
    assert_eq!(of_items(&list, "failure_count"), [0, 0]);
    let rest = get(&rig, "/ojs/v1/webhooks/subscriptions?page=2&per_page=2").await;
    assert_eq!(of_items(&rest, "id"), made[2..]);
    let path = format!("/ojs/v1/webhooks/subscriptions/{}", made[0].as_str().unwrap());
    let switched = send(&rig, "PUT", &path, r#"{"active":false}"#).await.json();
    assert_eq!((&switched["active"], &switched["url"]), (&json!(false), &json!("https://example.com/hook")));
}

#[tokio::test]
async fn scheduled_jobs_are_listed_by_when_they_are_to_start() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for hours in [3, 1, 2] {
        let job = format!(r#"{{"type":"a","args":[],"scheduled_at":"+PT{hours}H","priority":{hours}}}"#);
        made.push(Value::from(rig.enqueue(&job).await));
        rig.pass(Duration::from_millis(1)).await;
    }
    let path = "/ojs/v1/admin/jobs?state=scheduled&per_page=50&sort=scheduled_at&order=asc";
    let list = get(&rig, path).await;
    let soonest = [made[1].clone(), made[2].clone(), made[0].clone()];
    assert_eq!((of_items(&list, "id"), place(&list)), (soonest.to_vec(), json!([3, 1, 50])));
    let by_priority = get(&rig, "/ojs/v1/admin/jobs?sort=priority&per_page=2").await;
    assert_eq!(of_items(&by_priority, "id"), [made[0].clone(), made[2].clone()]);
    let cursor = by_priority["pagination"]["next_cursor"].as_str().unwrap();
    let rest = get(&rig, &format!("/ojs/v1/admin/jobs?sort=priority&per_page=2&cursor={cursor}")).await;
    assert_eq!(of_items(&rest, "id"), made[1..2]);
    assert_eq!(rest["pagination"]["has_more"], false);
}

#[tokio::test]
async fn those_that_have_ended_can_be_left_out() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let done = rig.fetch().await;
    rig.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{done}"}}"#)).await;
    let left = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let list = get(&rig, "/ojs/v1/admin/jobs?limit=25&offset=0&exclude_terminal=true").await;
    assert_eq!((of_items(&list, "id"), place(&list)), (vec![left.into()], json!([1, 1, 25])));
    assert_eq!(get(&rig, "/ojs/v1/admin/jobs?exclude_terminal=false").await["pagination"]["total"], 2);
}

#[tokio::test]
async fn a_job_has_all_that_its_page_reads() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[],"scheduled_at":"+PT1H"}"#).await;
    let path = format!("/ojs/v1/admin/jobs/{id}");
    let job = get(&rig, &path).await;
    assert_eq!((&job["errors"], &job["meta"]), (&json!([]), &json!({})));
    assert_eq!(job["metadata"]["created_at"], job["created_at"]);
    assert_eq!(job["metadata"]["scheduled_at"], job["scheduled_at"]);
    send(&rig, "PATCH", &path, r#"{"priority":1}"#).await;
    assert_eq!(get(&rig, &path).await["priority"], 1);
    let own = rig.enqueue(r#"{"type":"a","args":[],"metadata":{"mine":true}}"#).await;
    let own = get(&rig, &format!("/ojs/v1/admin/jobs/{own}")).await;
    assert_eq!(
        own["metadata"],
        json!({"mine": true}),
        "an attribute of the client comes back as it was sent"
    );
}

#[tokio::test]
async fn lists_of_operators_go_on_behind_their_last_item() {
    let rig = Rig::new();
    for name in ["a", "b", "c"] {
        rig.enqueue(&format!(r#"{{"type":"t","args":[],"queue":"{name}"}}"#)).await;
        let wish = format!(r#"{{"queues":["{name}"],"worker_id":"{name}"}}"#);
        send(&rig, "POST", "/ojs/v1/workers/fetch", &wish).await;
        let schema =
            format!(r#"{{"uri":"urn:{name}","type":"t.{name}","version":"1","schema":{{"minItems":1}}}}"#);
        send(&rig, "POST", "/ojs/v1/schemas", &schema).await;
    }
    for (path, list) in [("admin/queues", "items"), ("admin/workers", "items"), ("schemas", "schemas")] {
        let whole = get(&rig, &format!("/ojs/v1/{path}")).await[list].as_array().unwrap().clone();
        let first = get(&rig, &format!("/ojs/v1/{path}?limit=2")).await;
        assert_eq!(first[list], json!(whole[..2]), "{path}");
        assert_eq!(first["pagination"]["total"], 3, "{path}");
        let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
        for query in [format!("cursor={cursor}"), "offset=2".to_owned(), "limit=2&page=2".to_owned()] {
            let rest = get(&rig, &format!("/ojs/v1/{path}?{query}")).await;
            assert_eq!(rest[list], json!(whole[2..]), "{path}?{query}");
            assert_eq!(rest["pagination"]["has_more"], false, "{path}?{query}");
        }
        let both = rig.get(&format!("/ojs/v1/{path}?offset=1&cursor={cursor}")).await;
        assert_eq!(both.text_at("/error/details/field"), "query.offset", "{path}");
    }
}
