//! What operators ask for.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::Play;
use crate::testing::{Answer, Rig, request};

const ADMIN: &str = "/ojs/v1/admin";

/// The part of the operators in the play.
pub(super) async fn perform(play: &mut Play) {
    queues_and_jobs(play).await;
    many_jobs(play).await;
    dead_letters(play).await;
    workers(play).await;
    the_server(play).await;
}

async fn queues_and_jobs(play: &mut Play) {
    let batch = r#"{"jobs":[{"type":"a.b","args":[1],"queue":"q"},{"type":"a.c","args":[],"queue":"q","priority":5}]}"#;
    let ids = play.rig.post("/ojs/v1/jobs/batch", batch).await;
    let (first, second) = (ids.text_at("/jobs/0/id"), ids.text_at("/jobs/1/id"));
    play.act("PATCH", "/ojs/v1/jobs/{id}", &first, r#"{"priority":9}"#).await;
    play.act("PATCH", "/ojs/v1/jobs/{id}", &first, r#"{"queue":"other"}"#).await;
    play.act("GET", "/ojs/v1/queues/{name}/priority-stats", "q", "").await;
    play.act("GET", "/ojs/v1/admin/queues?per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/admin/queues/{name}", "q", "").await;
    play.act("GET", "/ojs/v1/admin/queues/{name}", "unused", "").await;
    play.act("POST", "/ojs/v1/admin/queues/{name}/pause", "q", "").await;
    play.act("POST", "/ojs/v1/admin/queues/{name}/resume", "q", "").await;
    play.act("GET", "/ojs/v1/admin/jobs?queue=q&state=available&type=a.*&per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/admin/jobs/{id}", &second, "").await;
    play.act("PATCH", "/ojs/v1/admin/jobs/{id}", &second, r#"{"priority":6}"#).await;
    play.act("POST", "/ojs/v1/admin/jobs/{id}/cancel", &second, "").await;
    play.act("POST", "/ojs/v1/admin/jobs/{id}/retry", &second, "").await;
    play.act("DELETE", "/ojs/v1/admin/jobs/{id}", &second, "").await;
    play.act("DELETE", "/ojs/v1/admin/jobs/{id}", &first, "").await;
    let purge = r#"{"states":["completed"],"older_than":"P7D","confirm":true}"#;
    play.act("DELETE", "/ojs/v1/admin/queues/{name}/jobs", "q", purge).await;
    play.act("DELETE", "/ojs/v1/admin/queues/{name}/jobs", "q", "").await;
}

async fn many_jobs(play: &mut Play) {
    let other = play.rig.enqueue(r#"{"type":"a.d","args":[]}"#).await;
    let named = format!(r#"{{"job_ids":["{other}","{other}","x"]}}"#);
    play.act("POST", "/ojs/v1/jobs/bulk/cancel", "", &named).await;
    play.act("POST", "/ojs/v1/jobs/bulk/retry", "", &named).await;
    play.act("POST", "/ojs/v1/jobs/bulk/delete", "", r#"{"filter":{"type":"a.d"},"dry_run":true}"#).await;
    play.act("POST", "/ojs/v1/jobs/bulk/delete", "", r#"{"filter":{"type":"a.d"}}"#).await;
    let cancel = r#"{"filter":{"queue":"q"},"confirm":true}"#;
    play.act("POST", "/ojs/v1/admin/jobs/bulk/cancel", "", cancel).await;
    let retry = r#"{"filter":{"queue":"q","state":"cancelled"},"confirm":true}"#;
    play.act("POST", "/ojs/v1/admin/jobs/bulk/retry", "", retry).await;
    play.act("POST", "/ojs/v1/admin/jobs/bulk/delete", "", r#"{"filter":{"queue":"q"},"confirm":true}"#)
        .await;
    play.act("POST", "/ojs/v1/admin/jobs/bulk/delete", "", r#"{"filter":{}}"#).await;
}

async fn dead_letters(play: &mut Play) {
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bury(&play.rig, "default", "Timeout").await);
    }
    play.act("GET", "/ojs/v1/admin/dead-letter?error_type=Timeout&per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/admin/dead-letter/{id}", &ids[0], "").await;
    play.act("GET", "/ojs/v1/admin/dead-letter/stats", "", "").await;
    play.act("GET", "/ojs/v1/dead-letter/stats", "", "").await;
    play.act("POST", "/ojs/v1/admin/dead-letter/{id}/retry", &ids[0], "").await;
    play.act("DELETE", "/ojs/v1/admin/dead-letter/{id}", &ids[1], "").await;
    let by_error = r#"{"filter":{"error_type":"Timeout"},"confirm":true}"#;
    play.act("POST", "/ojs/v1/admin/dead-letter/retry", "", by_error).await;
    play.act("POST", "/ojs/v1/dead-letter/retry", "", by_error).await;
    play.act("DELETE", "/ojs/v1/dead-letter", "", r#"{"older_than":"P1D","confirm":true}"#).await;
    play.act("DELETE", "/ojs/v1/admin/dead-letter", "", r#"{"dry_run":true}"#).await;
}

async fn workers(play: &mut Play) {
    let facts =
        r#"{"worker_id":"w-9","hostname":"h","pid":7,"queues":["q"],"concurrency":2,"labels":["blue"]}"#;
    play.act("POST", "/ojs/v1/workers/register", "", facts).await;
    play.act("POST", "/ojs/v1/workers/beat", "", r#"{"worker_id":"w-9","active_jobs":2,"state":"running"}"#)
        .await;
    play.act("GET", "/ojs/v1/workers/{id}/health", "w-9", "").await;
    play.act("GET", "/ojs/v1/admin/workers", "", "").await;
    play.act("POST", "/ojs/v1/admin/workers/{id}/quiet", "w-9", "").await;
    play.act("POST", "/ojs/v1/admin/workers/{id}/terminate", "w-9", "").await;
    play.act("GET", "/ojs/v1/admin/workers/{id}", "w-9", "").await;
    play.act("DELETE", "/ojs/v1/admin/workers/{id}", "w-9", "").await;
    play.act("GET", "/ojs/v1/workers/{id}/health", "nobody", "").await;
}

async fn the_server(play: &mut Play) {
    play.act("GET", "/ojs/v1/admin/stats/history?period=1m&since=PT2M&queue=default", "", "").await;
    play.act("GET", "/ojs/v1/middleware", "", "").await;
    play.act("GET", "/ojs/v1/admin/system/config", "", "").await;
    let on = r#"{"enabled":true,"reason":"moving","estimated_duration":"PT2M"}"#;
    play.act("POST", "/ojs/v1/admin/system/maintenance", "", on).await;
    play.act("POST", "/ojs/v1/jobs", "", r#"{"type":"a","args":[]}"#).await;
    play.act("POST", "/ojs/v1/admin/system/maintenance", "", r#"{"enabled":false}"#).await;
    play.act("POST", "/ojs/v1/admin/system/maintenance", "", r#"{"enabled":true,"duration":"15m"}"#).await;
    play.act("POST", "/ojs/v1/admin/system/maintenance", "", r#"{"enabled":false}"#).await;
    play.act("GET", "/ojs/v1/admin/system/maintenance", "", "").await;
    // Figures and how long the server is up are not the same each time.
    let shown = std::mem::take(&mut play.transcript);
    let stats = play.act("GET", "/ojs/v1/admin/stats", "", "").await.json();
    let of_queue = play.act("GET", "/ojs/v1/admin/stats?queue=q", "", "").await.json();
    play.act("GET", "/ojs/v1/admin/stats/stream", "", "").await;
    play.transcript = shown;
    assert_eq!(
        (&stats["queues"], &stats["workers"], &stats["jobs"]["discarded"]),
        (&json!(2), &json!(1), &json!(0))
    );
    assert!(stats["throughput"]["failed_per_minute"].is_number() && stats["uptime_seconds"].is_u64());
    assert_eq!((&of_queue["queue"], &of_queue["dead_letters"]), (&json!("q"), &json!(null)));
    assert!(
        of_queue["jobs"]["available"].is_u64() && of_queue["throughput"]["failed_per_minute"].is_number()
    );
}

async fn bury(rig: &Rig, queue: &str, kind: &str) -> String {
    let retry = r#"{"max_attempts":1,"on_exhaustion":"dead_letter"}"#;
    let id = rig.enqueue(&format!(r#"{{"type":"a","args":[],"queue":"{queue}","retry":{retry}}}"#)).await;
    rig.post("/ojs/v1/workers/fetch", &format!(r#"{{"queues":["{queue}"]}}"#)).await;
    let nack = format!(r#"{{"job_id":"{id}","error":{{"type":"{kind}","message":"no"}}}}"#);
    assert_eq!(rig.post("/ojs/v1/workers/nack", &nack).await.status, StatusCode::OK);
    id
}

async fn delete(rig: &Rig, path: &str, body: &str) -> Answer {
    rig.send(request("DELETE", path, body).body(Body::from(body.to_owned())).unwrap()).await
}

fn ids(answer: &Answer, list: &str) -> Vec<Value> {
    let items = answer.json()[list].as_array().unwrap().clone();
    items.iter().map(|item| item["id"].clone()).collect()
}

#[tokio::test]
async fn jobs_are_found_page_by_page_and_behind_a_cursor() {
    let rig = Rig::new();
    let mut made = Vec::new();
    for _ in 0..5 {
        made.insert(0, Value::from(rig.enqueue(r#"{"type":"a","args":[]}"#).await));
        rig.pass(Duration::from_millis(1)).await;
    }
    let first = rig.get(&format!("{ADMIN}/jobs?per_page=2")).await;
    assert_eq!(ids(&first, "items"), made[..2]);
    let pagination = &first.json()["pagination"];
    assert_eq!((&pagination["total"], &pagination["page"]), (&json!(5), &json!(1)));
    assert_eq!(ids(&rig.get(&format!("{ADMIN}/jobs?per_page=2&page=3")).await, "items"), made[4..]);
    let cursor = pagination["next_cursor"].as_str().unwrap();
    let rest = rig.get(&format!("{ADMIN}/jobs?per_page=9&cursor={cursor}")).await;
    assert_eq!(ids(&rest, "items"), made[2..]);
    assert_eq!(rest.json()["pagination"]["has_more"], false);
    let oldest = rig.get(&format!("{ADMIN}/jobs?order=asc&limit=1")).await;
    assert_eq!(ids(&oldest, "items"), made[4..]);
    let typed = rig.get(&format!("{ADMIN}/jobs?type=a&per_page=2")).await;
    assert!(typed.json()["pagination"].get("total").is_none(), "nobody counts types");
    let last = rig.get(&format!("{ADMIN}/jobs?type=a&per_page=2&page=3")).await;
    assert_eq!(last.json()["pagination"]["total"], 5, "the last page knows how many came before it");
    assert_eq!(ids(&rig.get(&format!("{ADMIN}/jobs?limit=2&offset=1")).await, "items"), made[1..3]);
}

#[tokio::test]
async fn questions_of_the_wrong_form_name_the_place() {
    let rig = Rig::new();
    let mut refused = Vec::new();
    for query in [
        "state=done",
        "type=A*",
        "queue=A",
        "since=yesterday",
        "page=0",
        "page=501&per_page=20",
        "page=2&cursor=x",
        "cursor=x",
        "page=2&offset=1",
        "offset=9999",
        "sort=color",
        "sort=priority&cursor=x",
        "exclude_terminal=yes",
        "exclude_terminal=true&state=completed",
        "order=up",
    ] {
        refused.push(rig.get(&format!("{ADMIN}/jobs?{query}")).await.error());
    }
    refused.push(rig.get(&format!("{ADMIN}/dead-letter?order=asc")).await.error());
    refused.push(rig.get(&format!("{ADMIN}/dead-letter?sort=priority")).await.error());
    refused.push(rig.get(&format!("{ADMIN}/stats/history?period=2m")).await.error());
    refused.push(rig.get("/ojs/v1/dead-letter?type=a&offset=10001").await.error());
    insta::assert_snapshot!(refused.join("\n"));
}

#[tokio::test]
async fn deeds_of_the_wrong_form_name_the_place() {
    let rig = Rig::new();
    let mut refused = Vec::new();
    for body in [
        r#"{"confirm":true}"#,
        r#"{"filter":{},"confirm":false}"#,
        r#"{"filter":{"state":"done"},"confirm":true}"#,
        r#"{"filter":{"state":[]},"confirm":true}"#,
        r#"{"filter":{"state":"active","states":["active"]},"confirm":true}"#,
        r#"{"filter":{"queu":"a"},"confirm":true}"#,
        r#"{"filter":{"since":1},"confirm":true}"#,
        r#"{"filter":{"meta":{"a":1e999}},"confirm":true}"#,
        r#"{"filter":{"priority":101},"confirm":true}"#,
        r#"{"filter":{},"confirm":true,"cursor":"x"}"#,
        r#"{"filter":{},"confirm":"yes"}"#,
    ] {
        refused.push(rig.post(&format!("{ADMIN}/jobs/bulk/retry"), body).await.error());
    }
    for body in [
        "{}",
        r#"{"job_ids":[]}"#,
        r#"{"job_ids":"x"}"#,
        r#"{"job_ids":["x"],"filter":{"type":"a"}}"#,
        r#"{"job_ids":["x"],"dry_run":true}"#,
        r#"{"filter":{}}"#,
        r#"{"job_ids":["x"],"atomicity":"atomic"}"#,
        r#"{"job_ids":["x"],"atomicity":"maybe"}"#,
        r#"{"job_ids":["x"],"idempotency_key":"k"}"#,
    ] {
        refused.push(rig.post("/ojs/v1/jobs/bulk/cancel", body).await.error());
    }
    for body in [
        r#"{"confirm":true}"#,
        r#"{"states":["available"],"confirm":true}"#,
        r#"{"states":[],"confirm":true}"#,
        r#"{"states":["completed"]}"#,
    ] {
        refused.push(delete(&rig, &format!("{ADMIN}/queues/a/jobs"), body).await.error());
    }
    for body in ["", "{}", r#"{"confirm":true,"older_than":"P1D","filter":{"until":"P1D"}}"#] {
        refused.push(delete(&rig, "/ojs/v1/dead-letter", body).await.error());
    }
    for body in [r#"{"enabled":"yes"}"#, r#"{"enabled":false,"reason":"x"}"#, "{}"] {
        refused.push(rig.post(&format!("{ADMIN}/system/maintenance"), body).await.error());
    }
    for body in [r#"{"worker_id":"w","labels":1,"pid":-1}"#, r#"{"queues":["q"]}"#] {
        refused.push(rig.post("/ojs/v1/workers/register", body).await.error());
    }
    insta::assert_snapshot!(refused.join("\n"));
}

#[tokio::test]
async fn too_many_names_are_too_many() {
    let rig = Rig::new();
    let names = vec!["x"; hapax_broker::BULK_MAX + 1];
    let body = json!({ "job_ids": names }).to_string();
    let answer = rig.post("/ojs/v1/jobs/bulk/delete", &body).await;
    assert_eq!(
        (answer.status.as_u16(), answer.text_at("/error/code").as_str()),
        (413, "BATCH_SIZE_EXCEEDED")
    );
}

#[tokio::test]
async fn a_filter_cancels_what_waits_and_leaves_what_runs() {
    let rig = Rig::new();
    for _ in 0..3 {
        rig.enqueue(r#"{"type":"a","args":[],"meta":{"tenant_id":"acme"}}"#).await;
    }
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let running = rig.fetch().await;
    let filter = r#"{"filter":{"type":"a","meta":{"tenant_id":"acme"}}}"#;
    let answer = rig.post("/ojs/v1/jobs/bulk/cancel", filter).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!((&answer.json()["cancelled"], &answer.json()["total_matched"]), (&json!(2), &json!(2)));
    assert_eq!(answer.header("x-ojs-batch-size"), Some("2"));
    assert_eq!(rig.get(&format!("/ojs/v1/jobs/{running}")).await.text_at("/state"), "active");
    let named =
        rig.post(&format!("{ADMIN}/jobs/bulk/cancel"), r#"{"filter":{"type":"a"},"confirm":true}"#).await;
    assert_eq!(named.json()["succeeded"], 2, "an operator means what runs, too");
}

#[tokio::test]
async fn a_quiet_worker_is_told_so_and_gets_nothing() {
    let rig = Rig::new();
    let wish = r#"{"queues":["default"],"worker_id":"w"}"#;
    rig.post("/ojs/v1/workers/fetch", wish).await;
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    assert_eq!(rig.post(&format!("{ADMIN}/workers/w/quiet"), "").await.text_at("/state"), "quiet");
    assert_eq!(rig.post("/ojs/v1/workers/fetch", wish).await.json()["jobs"], json!([]));
    let beat = rig.post("/ojs/v1/workers/heartbeat", r#"{"worker_id":"w"}"#).await;
    assert_eq!((beat.text_at("/state"), beat.text_at("/directive")), ("quiet".into(), "quiet".into()));
    assert_eq!(rig.get("/ojs/v1/workers/w/health").await.status.as_u16(), 503);
}

#[tokio::test]
async fn a_stale_worker_is_removed_and_its_jobs_go_back() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"],"worker_id":"w"}"#).await;
    assert_eq!(rig.delete(&format!("{ADMIN}/workers/w")).await.status.as_u16(), 409);
    rig.pass(hapax_broker::STALE_AFTER).await;
    assert_eq!(rig.get(&format!("{ADMIN}/workers")).await.json()["summary"]["stale"], 1);
    assert_eq!(rig.get(&format!("{ADMIN}/workers/w")).await.json()["jobs"].as_array().unwrap().len(), 1);
    let gone = rig.delete(&format!("{ADMIN}/workers/w")).await.json();
    assert_eq!((&gone["deleted"], &gone["jobs_released"]), (&json!(true), &json!(1)));
    assert_eq!(rig.get(&format!("{ADMIN}/workers/w")).await.status.as_u16(), 404);
    assert_eq!(
        rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await.json()["jobs"][0]["attempt"],
        2
    );
}

#[tokio::test]
async fn a_queue_tells_what_it_did_in_the_last_hour() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.pass(Duration::from_secs(2)).await;
    let id = rig.fetch().await;
    rig.pass(Duration::from_millis(500)).await;
    rig.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{id}"}}"#)).await;
    let stats = &rig.get("/ojs/v1/queues/default/stats").await.json()["stats"];
    assert_eq!((&stats["completed_last_hour"], &stats["failed_last_hour"]), (&json!(1), &json!(0)));
    assert_eq!((&stats["avg_wait_ms"], &stats["avg_duration_ms"]), (&json!(2000), &json!(500)));
    assert!(stats["throughput_per_second"].as_f64().unwrap() > 0.0);
    let queue = rig.get(&format!("{ADMIN}/queues/default")).await.json();
    assert_eq!(queue["throughput"]["processed_per_minute"], 1);
    assert!(queue["latency_ms"]["p50"].as_u64().unwrap() >= 2000);
}

#[tokio::test]
async fn letters_are_found_by_their_error() {
    let rig = Rig::new();
    let late = bury(&rig, "default", "Timeout").await;
    bury(&rig, "default", "Refused").await;
    let found = rig.get("/ojs/v1/dead-letter?error_type=Timeout").await;
    assert_eq!(ids(&found, "jobs"), [Value::from(late)]);
    assert_eq!(found.json()["pagination"]["has_more"], false);
    assert_eq!(ids(&rig.get("/ojs/v1/dead-letter?type=b").await, "jobs"), Vec::<Value>::new());
    let purged =
        delete(&rig, "/ojs/v1/dead-letter", r#"{"filter":{"error_type":"Timeout"},"confirm":true}"#).await;
    assert_eq!((&purged.json()["action"], &purged.json()["succeeded"]), (&json!("delete"), &json!(1)));
    assert_eq!(rig.get("/ojs/v1/dead-letter").await.json()["pagination"]["total"], 1);
}

#[tokio::test]
async fn a_queue_says_whether_it_takes_jobs_whoever_decided_it() {
    let rig = Rig::new();
    let put = async |name: &str, body: &str| {
        let request = crate::testing::request("PUT", &format!("/ojs/v1/queues/{name}/config"), body);
        let answer = rig.send(request.body(body.to_owned().into()).unwrap()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.text_at("/state")
    };
    assert_eq!(put("_default", r#"{"draining":true}"#).await, "draining");
    assert_eq!(rig.get("/ojs/v1/queues/mine/config").await.text_at("/state"), "draining");
    assert_eq!(put("mine", r#"{"draining":false}"#).await, "active");
    let job = r#"{"type":"a.b","args":[],"queue":"mine"}"#;
    assert_eq!(rig.post("/ojs/v1/jobs", job).await.status, 201);
    assert_eq!(put("mine", r#"{"draining":null}"#).await, "draining");
    assert_eq!(rig.post("/ojs/v1/jobs", job).await.status, 422);
}
