//! What the official admin UI asks for, in its own words, and the members that it would break without.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hapax_core::Json;
use serde_json::{Value, json};

use crate::limits::{FIGURES_INTERVAL, STREAM_HEARTBEAT};
use crate::testing::{Answer, Rig, Setup, StalledStore, request};
use crate::{ApiKey, Entrance, RefuseRule};

async fn send(rig: &Rig, method: &str, path: &str, body: &str) -> Answer {
    rig.send(request(method, path, body).body(Body::from(body.to_owned())).unwrap()).await
}

async fn put(rig: &Rig, path: &str, body: &str) -> Value {
    let answer = send(rig, "PUT", path, body).await;
    assert!(answer.status.is_success(), "{path} {body}: {}", answer.text);
    answer.json()
}

fn members(value: &Value, names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| value[name].clone()).collect()
}

#[tokio::test]
async fn every_page_of_it_is_shown() {
    let manifest = Rig::new().get("/ojs/manifest").await.json();
    let known = ["fair_scheduling", "cron", "workflows", "rate_limiting", "webhooks", "events"];
    for name in known.into_iter().chain(["dead_letter", "multi_tenancy", "job_versioning"]) {
        assert_eq!(manifest["capabilities"][name], true, "{name}");
    }
    let official = manifest["extensions"]["official"].as_array().unwrap();
    for name in ["unique_jobs", "admin-api"] {
        let found = official.iter().find(|entry| entry["name"] == name);
        assert!(
            found.is_some_and(|entry| entry["uri"].is_string() && entry["version"].is_string()),
            "{name}"
        );
    }
}

#[tokio::test]
async fn tenants_are_those_whose_jobs_came_by_and_their_jobs_are_listed() {
    let rig = Rig::new();
    for (tenant, queue) in [("b", "q1"), ("b", "q2"), ("a", "q1")] {
        let job = format!(r#"{{"type":"a","args":[],"queue":"{queue}","meta":{{"tenant_id":"{tenant}"}}}}"#);
        rig.enqueue(&job).await;
        rig.pass(Duration::from_secs(1)).await;
    }
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.post("/ojs/v1/workers/fetch", r#"{"queues":["q2"],"worker_id":"w"}"#).await;
    let page = rig.get("/ojs/v1/admin/tenants?page=2&per_page=1").await.json();
    assert_eq!(members(&page["pagination"], &["total", "page", "per_page"]), [json!(2), json!(2), json!(1)]);
    let listed = members(&page["items"][0], &["id", "name", "created_at"]);
    assert_eq!(listed, [json!("b"), json!("b"), json!("2027-01-15T08:00:00.000Z")]);
    assert_eq!(page["items"][0]["counted"]["fetched"], 1);
    let one = rig.get("/ojs/v1/admin/tenants/b").await.json();
    assert_eq!(members(&one["stats"], &["queues", "workers", "complete"]), [json!(2), json!(1), json!(true)]);
    assert_eq!(members(&one["stats"]["jobs"], &["available", "active"]), [json!(1), json!(1)]);
    let jobs = rig.get("/ojs/v1/admin/tenants/b/jobs?state=available&page=1&per_page=10").await.json();
    let found: Vec<&Value> = jobs["items"].as_array().unwrap().iter().map(|job| &job["queue"]).collect();
    assert_eq!(found, ["q1"]);
    assert_eq!(
        rig.get("/ojs/v1/admin/tenants/nobody").await.error(),
        "404 not_found: there is no tenant \"nobody\""
    );
    assert_eq!(rig.get("/ojs/v1/admin/tenants/nobody/jobs").await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_tenant_is_shown_whose_jobs_came_before_this_server() {
    let setup = Setup::default();
    let store = Arc::clone(&setup.store);
    let before = Rig::with(setup);
    before.enqueue(r#"{"type":"a","args":[],"meta":{"tenant_id":"old"}}"#).await;
    let rig = Rig::with(Setup { store, ..Setup::default() });
    assert_eq!(rig.get("/ojs/v1/admin/tenants").await.json()["pagination"]["total"], 0);
    let one = rig.get("/ojs/v1/admin/tenants/old").await.json();
    assert_eq!((&one["stats"]["jobs"]["available"], &one["counted"]["enqueued"]), (&json!(1), &json!(0)));
    assert_eq!(one["created_at"], "2027-01-15T08:00:00.000Z");
}

#[tokio::test]
async fn a_pool_is_shown_with_those_who_work_on_it_and_its_queues_with_their_turns() {
    let rig = Rig::new();
    put(
        &rig,
        "/ojs/v1/admin/pools/p",
        r#"{"strategy":"weighted","queues":{"a":{"weight":9},"b":{"weight":1}}}"#,
    )
    .await;
    let idle = rig.get("/ojs/v1/admin/scheduling/stats").await.json();
    assert_eq!(idle["queues"][0], json!({"name": "a", "weight": 9, "dispatched": 0, "starved": false}));
    for queue in ["b", "a", "a"] {
        rig.enqueue(&format!(r#"{{"type":"x","args":[],"queue":"{queue}"}}"#)).await;
    }
    rig.post("/ojs/v1/workers/register", r#"{"worker_id":"w","queues":["a"],"concurrency":4}"#).await;
    rig.post("/ojs/v1/workers/register", r#"{"worker_id":"elsewhere","queues":["c"],"concurrency":7}"#).await;
    rig.post("/ojs/v1/queues/b/pause", "").await;
    rig.post("/ojs/v1/workers/fetch", r#"{"pool":"p"}"#).await;
    let paused = rig.get("/ojs/v1/admin/scheduling/stats").await.json();
    assert_eq!(paused["queues"][1]["starved"], false, "who is paused wants nothing");
    rig.post("/ojs/v1/queues/b/resume", "").await;
    let stats = rig.get("/ojs/v1/admin/scheduling/stats").await.json();
    assert_eq!(stats["strategy"], "weighted");
    assert_eq!(stats["queues"][1], json!({"name": "b", "weight": 1, "dispatched": 0, "starved": true}));
    let pool = rig.get("/ojs/v1/admin/pools").await.json()["pools"][0].clone();
    let names = ["id", "name", "workers", "concurrency", "active_jobs", "strategy"];
    assert_eq!(
        members(&pool, &names),
        [json!("p"), json!("p"), json!(1), json!(4), json!(1), json!("weighted")]
    );
}

#[tokio::test]
async fn schemas_are_listed_with_their_documents_and_the_latest_of_a_type_is_found() {
    let rig = Rig::new();
    for version in ["1", "2"] {
        put(&rig, &format!("/ojs/v1/admin/schemas/a.b/{version}"), r#"{"schema":{"maxItems":3}}"#).await;
    }
    let schemas = rig.get("/ojs/v1/admin/schemas").await.json()["schemas"].clone();
    assert_eq!(schemas.as_array().unwrap().len(), 2);
    let shown = members(&schemas[0], &["type", "version", "schema"]);
    assert_eq!(shown, [json!("a.b"), json!("1"), json!({"maxItems": 3})]);
    assert_eq!(rig.get("/ojs/v1/admin/schemas/a.b").await.json()["version"], 2);
}

#[tokio::test]
async fn maintenance_is_begun_for_a_quarter_of_an_hour() {
    let rig = Rig::new();
    let path = "/ojs/v1/admin/system/maintenance";
    assert_eq!(rig.get(path).await.json()["enabled"], false);
    let begun = rig.post(path, r#"{"enabled":true,"reason":"move","duration":"15m"}"#).await.json();
    let times = ["2027-01-15T08:00:00.000Z", "2027-01-15T08:15:00.000Z"];
    assert_eq!(
        members(&begun, &["enabled", "reason", "started_at", "ends_at"]),
        [json!(true), json!("move"), json!(times[0]), json!(times[1])]
    );
    for (body, expected) in [
        (r#"{"enabled":true,"duration":"15x"}"#, "duration: "),
        (r#"{"enabled":true,"duration":"15m","estimated_duration":"PT1H"}"#, "duration: contradicts"),
        (r#"{"enabled":false,"duration":"15m"}"#, "duration: goes with enabled: true"),
    ] {
        let refused = rig.post(path, body).await.error();
        assert!(refused.starts_with(&format!("400 invalid_request: {expected}")), "{body}: {refused}");
    }
    let same = r#"{"enabled":true,"duration":"1h","estimated_duration":"PT1H"}"#;
    assert_eq!(rig.post(path, same).await.status, 200);
    assert_eq!(rig.post(path, r#"{"enabled":false}"#).await.json()["enabled"], false);
}

#[tokio::test]
async fn a_rate_limit_is_shown_and_overridden_flat() {
    let rig = Rig::new();
    let limited = |key: &str, limit: &str| {
        format!(r#"{{"type":"a","args":[],"rate_limit":{{"key":"{key}",{limit}}}}}"#)
    };
    rig.enqueue(&limited("k1", r#""concurrency":2"#)).await;
    rig.enqueue(&limited("k2", r#""rate":{"limit":9,"period":"PT5M"},"concurrency":1"#)).await;
    rig.enqueue(&limited("k3", r#""throttle":{"limit":1,"period":"PT1S"}"#)).await;
    let page = rig.get("/ojs/v1/rate-limits?page=1&per_page=25").await.json();
    let shown: Vec<_> =
        page["items"].as_array().unwrap().iter().map(|item| members(item, &["limit", "period"])).collect();
    assert_eq!(shown, [[json!(2), json!(null)], [json!(9), json!("5m")], [json!(1), json!("1s")]]);
    assert_eq!(
        members(&page["items"][0], &["active", "waiting", "override"]),
        [json!(0), json!(1), json!(null)]
    );
    assert_eq!(members(&page["pagination"], &["total", "page", "per_page"]), [json!(3), json!(1), json!(25)]);
    let second = rig.get("/ojs/v1/rate-limits?page=2&per_page=2").await.json();
    assert_eq!((&second["items"][0]["key"], &second["pagination"]["total"]), (&json!("k3"), &json!(3)));
    let first = rig.get("/ojs/v1/rate-limits?page=1&per_page=2").await.json();
    assert_eq!(first["pagination"]["total"], json!(null), "what was not looked at is not counted");
    assert!(rig.get("/ojs/v1/rate-limits?page=60&per_page=25").await.error().contains("go on by cursor"));

    let one = put(&rig, "/ojs/v1/rate-limits/k2", r#"{"limit":5,"period":"1m","expires_at":"+PT1H"}"#).await;
    assert_eq!(members(&one, &["limit", "period"]), [json!(5), json!("1m")]);
    assert_eq!(members(&one["override"], &["limit", "period"]), [json!(5), json!("1m")]);
    assert_eq!(one["concurrency"]["limit"], 1, "the other figure stays");
    let same_kind = put(&rig, "/ojs/v1/rate-limits/k1", r#"{"limit":5}"#).await;
    assert_eq!((&same_kind["concurrency"]["limit"], &same_kind["rate"]), (&json!(5), &json!(null)));
    for (body, place) in [
        (r#"{"limit":5,"rate":{"limit":5,"period":"PT1M"}}"#, "rate: unknown member"),
        (r#"{"limit":0,"period":"1m"}"#, "limit: must be at least 1"),
        (r#"{"limit":1,"period":"soon"}"#, "period: "),
        (r#"{"period":"1m"}"#, "period: unknown member"),
    ] {
        let refused = send(&rig, "PUT", "/ojs/v1/rate-limits/k2", body).await.error();
        assert!(refused.starts_with(&format!("400 invalid_request: {place}")), "{body}: {refused}");
    }
    assert_eq!(rig.delete("/ojs/v1/rate-limits/k2/override").await.status, 204);
    assert_eq!(rig.get("/ojs/v1/rate-limits/k2").await.json()["limit"], 9);
    assert_eq!(rig.delete("/ojs/v1/rate-limits/k2/override").await.status, 404);
}

#[tokio::test]
async fn what_its_form_for_a_queue_sends_is_what_the_queue_is_shown_with() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[],"queue":"q","priority":3}"#).await;
    let form = r#"{"concurrency":2,"rate_limit":{"limit":1,"period":"1m"},"retention":{"completed":"24h","discarded":"7d"}}"#;
    put(&rig, "/ojs/v1/admin/queues/q/config", form).await;
    let queue = rig.get("/ojs/v1/admin/queues/q").await.json()["configuration"].clone();
    assert_eq!(queue["concurrency"], 2);
    assert_eq!(queue["rate_limit"], json!({"limit": 1, "period": "1m"}));
    assert_eq!(members(&queue["retention"], &["completed", "discarded"]), [json!("P1D"), json!("P7D")]);
    assert_eq!(
        members(&queue["backpressure"], &["enabled", "state", "current_depth", "threshold"]),
        [json!(false), json!("normal"), json!(1), json!(null)]
    );
    // It counts: of two jobs one may start in this minute.
    rig.enqueue(r#"{"type":"a","args":[],"queue":"q"}"#).await;
    let fetched = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["q"],"count":2}"#).await.json();
    assert_eq!(fetched["jobs"].as_array().unwrap().len(), 1);
    // Sent back as it was read, it changes nothing; null takes the limit away, and leaves the others.
    put(&rig, "/ojs/v1/admin/queues/q/config", r#"{"rate_limit":{"limit":1,"period":"1m"}}"#).await;
    put(&rig, "/ojs/v1/admin/queues/q/config", r#"{"rate_limit":null}"#).await;
    let queue = rig.get("/ojs/v1/admin/queues/q").await.json()["configuration"].clone();
    assert_eq!((&queue["concurrency"], &queue["rate_limit"]), (&json!(2), &json!(null)));
    let of_all =
        send(&rig, "PUT", "/ojs/v1/queues/_default/config", r#"{"rate_limit":{"limit":1,"period":"1m"}}"#)
            .await;
    assert!(of_all.error().starts_with("400 invalid_request: rate_limit: can be set"), "{}", of_all.text);
    let stats = rig.get("/ojs/v1/queues/q/priority-stats").await.json();
    assert_eq!(stats["distribution"], json!([{"priority": 0, "count": 1}]));
}

#[tokio::test]
async fn a_queue_says_how_far_it_is_filled_up_by_its_own_settings_or_those_of_all() {
    let rig = Rig::new();
    put(&rig, "/ojs/v1/queues/_default/config", r#"{"max_size":5}"#).await;
    let state = async || {
        let pressure =
            rig.get("/ojs/v1/admin/queues/q").await.json()["configuration"]["backpressure"].clone();
        members(&pressure, &["enabled", "strategy", "threshold", "current_depth", "state"])
    };
    let expected =
        |depth: u64, state: &str| [json!(true), json!("reject"), json!(5), json!(depth), json!(state)];
    for (depth, word) in [(3, "normal"), (4, "warning"), (5, "critical")] {
        while rig.get("/ojs/v1/queues/q/stats").await.json()["available"] != depth {
            rig.enqueue(r#"{"type":"a","args":[],"queue":"q"}"#).await;
        }
        assert_eq!(state().await, expected(depth, word));
    }
}

#[tokio::test]
async fn the_stream_tells_figures_and_then_what_happens_to_jobs() {
    let rig = Rig::new();
    rig.herald();
    rig.post("/ojs/v1/workers/beat", r#"{"worker_id":"w","active_jobs":2,"state":"running"}"#).await;
    rig.enqueue(r#"{"type":"a.b","args":[],"queue":"old"}"#).await;
    let mut stream = rig.listen("/ojs/v1/admin/stats/stream").await;
    let figures = stream.event().await;
    assert_eq!(figures.event, "metrics");
    let figures = figures.json();
    let queue = json!({"queue": "old", "available": 1, "active": 0, "scheduled": 0, "retryable": 0});
    assert_eq!(figures["queues"], json!([queue]));
    let rates = ["processed_per_second", "failed_per_second", "enqueued_per_second"];
    assert_eq!(members(&figures["throughput"], &rates), [json!(0), json!(0), json!(0.017)]);
    let worker = json!({"id": "w", "state": "running", "activeJobs": 2, "lastHeartbeatAt": "2027-01-15T08:00:00.000Z"});
    assert_eq!(figures["workers"], json!({"total": 1, "active": [worker]}));
    assert_eq!(figures["error_rate"], 0);

    let id = rig.enqueue(r#"{"type":"a.b","args":[]}"#).await;
    rig.fetch().await;
    rig.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{id}","error":{{"message":"no"}}}}"#)).await;
    rig.delete(&format!("/ojs/v1/jobs/{id}")).await;
    let at = json!("2027-01-15T08:00:00.000Z");
    let mut told = Vec::new();
    while told.last().is_none_or(|kind| kind != "job.cancelled") {
        let heard = stream.event().await;
        if heard.event == "metrics" {
            continue;
        }
        let data = heard.json();
        let expected = [json!(id), json!("a.b"), json!("default"), at.clone()];
        assert_eq!(members(&data, &["job_id", "type", "queue", "timestamp"]), expected, "{data}");
        if heard.event == "job.failed" {
            // A text and a number: it shows both as they are.
            assert_eq!(members(&data, &["error", "attempt"]), [json!("no"), json!(1)]);
        }
        told.push(heard.event);
    }
    assert_eq!(told, ["job.enqueued", "job.failed", "job.cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn figures_come_again_and_again_and_a_store_that_is_silent_leaves_a_sign_of_life() {
    let rig = Rig::new();
    let mut stream = rig.listen("/ojs/v1/admin/stats/stream").await;
    let started = tokio::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(stream.event().await.event, "metrics");
    }
    assert!(started.elapsed() >= FIGURES_INTERVAL * 2, "{:?}", started.elapsed());
    let rig = Rig::with(Setup { store: Arc::new(StalledStore), ..Setup::default() });
    let mut stream = rig.listen("/ojs/v1/admin/stats/stream").await;
    let started = tokio::time::Instant::now();
    let heard = stream.next().await.unwrap();
    assert_eq!(heard.event, "", "{heard:?}");
    assert!(started.elapsed() >= STREAM_HEARTBEAT, "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_stream_chooses_nothing_and_ends_with_the_server() {
    let rig = Rig::new();
    let refused = rig.get("/ojs/v1/admin/stats/stream?queues=a").await.error();
    assert!(refused.starts_with("400 invalid_request: query.queues: chooses nothing here"), "{refused}");
    let mut stream = rig.listen("/ojs/v1/admin/stats/stream").await;
    assert_eq!(rig.shared.streams.taken(), 1);
    rig.shared.streams.close();
    assert_eq!(stream.event().await.event, "server.shutdown");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn the_stations_of_a_job_are_told_and_nothing_secret() {
    let rule = RefuseRule {
        kind: Some("a.b".into()),
        meta: vec![("token".into(), Json::from_trusted("\"s3cret\""))],
        message: "not here".into(),
    };
    let entrance = Entrance { require_tenant: true, refuse: vec![rule] };
    let keys = vec![ApiKey { name: "ci".into(), digest: [0; 32] }];
    let rig = Rig::with(Setup { entrance: entrance.clone(), keys, conformance: false, ..Setup::default() });
    assert_eq!(rig.get("/ojs/v1/middleware").await.status, 401);
    let rig = Rig::with(Setup { entrance, conformance: false, ..Setup::default() });
    let told = rig.get("/ojs/v1/middleware").await;
    assert!(!told.text.contains("s3cret"), "{}", told.text);
    let told = told.json();
    let refuse = told["enqueue"].as_array().unwrap().iter().find(|one| one["name"] == "refuse").unwrap();
    assert_eq!(refuse["description"], "refuses jobs of type a.b with a certain meta.token: not here");
    assert_eq!((&refuse["phase"], &refuse["order"]), (&json!("enqueue"), &json!(3)));
    assert_eq!(told["execution"][0]["phase"], "execution");
}

#[tokio::test]
async fn health_counts_queues_and_workers() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.post("/ojs/v1/queues/other/pause", "").await;
    rig.post("/ojs/v1/workers/beat", r#"{"worker_id":"w","active_jobs":[]}"#).await;
    rig.pass(Duration::from_secs(61)).await;
    rig.post("/ojs/v1/workers/beat", r#"{"worker_id":"v","active_jobs":[]}"#).await;
    let health = rig.get("/ojs/v1/health").await.json();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["queues"], json!({"total": 2, "paused": 1}));
    assert_eq!(health["workers"], json!({"total": 2, "active": 1, "stale": 1}));
}

#[tokio::test]
async fn what_became_of_a_job_has_its_end() {
    let rig = Rig::new();
    let id = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    rig.fetch().await;
    rig.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{id}","result":7}}"#)).await;
    let result = rig.get(&format!("/ojs/v1/jobs/{id}/result")).await.json();
    assert_eq!(
        members(&result, &["job_id", "state", "result", "completed_at"]),
        [json!(id), json!("completed"), json!(7), json!("2027-01-15T08:00:00.000Z")]
    );
    let of_queue = rig.get("/ojs/v1/admin/stats?queue=default").await.json();
    assert_eq!(of_queue["jobs"]["completed"], 1);
    assert_eq!(rig.get("/ojs/v1/admin/stats?queue=none").await.status, 404);
}
