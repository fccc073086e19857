//! Keys: who holds them, for how long, and taking them away.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::testing::{Rig, Setup, StallingStore};

const KEYS: &str = "/ojs/v1/unique/keys";

async fn key_of(rig: &Rig, id: &str) -> String {
    rig.get(&format!("/ojs/v1/jobs/{id}")).await.text_at("/unique/uniqueness_key")
}

#[tokio::test]
async fn a_key_shows_those_that_carry_it_now_and_lately() {
    let rig = Rig::new();
    let job = r#"{"type":"a","args":[],"unique":{"period":"PT1H","on_conflict":"ignore"}}"#;
    let first = rig.enqueue(job).await;
    let key = key_of(&rig, &first).await;
    rig.post(&format!("/ojs/v1/jobs/{first}/cancel"), "").await;
    rig.pass(Duration::from_secs(1)).await;
    let second = rig.enqueue(job).await;
    rig.post("/ojs/v1/jobs", job).await;
    let shown = rig.get(&format!("{KEYS}/{key}")).await.json();
    assert_eq!(
        (&shown["held"], &shown["holders_live"], &shown["holders_ended"]),
        (&true.into(), &1.into(), &1.into())
    );
    let [held, ended] = &shown["holders"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!((&held["job_id"], &held["held"]), (&second.as_str().into(), &true.into()));
    assert_eq!(
        held["unique"],
        json!({
            "keys": ["type"], "period": "PT1H", "on_conflict": "ignore",
            "states": ["scheduled", "available", "pending", "active", "retryable"],
        })
    );
    assert_eq!(held["duplicates"]["recent"][0]["outcome"], "existing");
    assert_eq!(
        held["free"],
        json!({
            "at": "2027-01-15T09:00:01.000Z", "states": ["completed", "cancelled", "discarded"],
        })
    );
    assert_eq!(
        (&ended["job_id"], &ended["held"], ended.get("free")),
        (&first.as_str().into(), &false.into(), None)
    );
    let one = rig.get(&format!("{KEYS}/{key}?limit=1")).await.json();
    assert_eq!(one["holders"].as_array().unwrap().len(), 1);

    assert_eq!(
        rig.get(&format!("{KEYS}/{}", "0".repeat(64))).await.error(),
        "404 not_found: no job holds this key"
    );
    for wrong in ["abc", &key.to_uppercase(), &"g".repeat(64)] {
        assert_eq!(
            rig.get(&format!("{KEYS}/{wrong}")).await.error(),
            "400 invalid_request: path: must be a uniqueness key, which has 64 lower-case hexadecimal digits"
        );
    }
    assert_eq!(rig.get(&format!("{KEYS}/{key}?limit=0")).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn held_keys_are_read_page_by_page_oldest_first() {
    let rig = Rig::new();
    for (name, queue) in [("a", "q"), ("b", "q"), ("c", "r")] {
        rig.enqueue(&format!(r#"{{"type":"{name}","args":[],"queue":"{queue}","unique":{{}}}}"#)).await;
        rig.pass(Duration::from_secs(10)).await;
    }
    rig.enqueue(r#"{"type":"d","args":[],"job_key":"named"}"#).await;
    let done = rig.enqueue(r#"{"type":"e","args":[],"unique":{}}"#).await;
    rig.post(&format!("/ojs/v1/jobs/{done}/cancel"), "").await;
    let mut found = Vec::new();
    let mut path = format!("{KEYS}?limit=3");
    loop {
        let page = rig.get(&path).await.json();
        assert_eq!((&page["held"], &page["pagination"]["limit"]), (&4.into(), &3.into()));
        found.extend(page["keys"].as_array().unwrap().iter().map(|key| key["type"].clone()));
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        assert_eq!(page["pagination"]["has_more"], true);
        path = format!("{KEYS}?limit=3&cursor={cursor}");
    }
    assert_eq!(found, ["a", "b", "c", "d"]);

    let types = async |query: &str| {
        let page = rig.get(&format!("{KEYS}?{query}")).await.json();
        let keys = page["keys"].as_array().unwrap().clone();
        keys.iter().map(|key| key["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(types("type=b").await, ["b"]);
    assert_eq!(types("queue=q").await, ["a", "b"]);
    assert_eq!(types("older_than=PT15S").await, ["a", "b"]);
    assert_eq!(types("older_than=25").await, ["a"]);
    let named = rig.get(&format!("{KEYS}?type=d")).await.json();
    let named = &named["keys"][0];
    assert_eq!((&named["job_key"], &named["held_for_ms"]), (&"named".into(), &0.into()));
    assert_eq!(named["duplicates"], json!({"count": 0}));

    for query in ["type=A", "queue=A", "older_than=1h", "older_than=-1", "cursor=x", "limit=0"] {
        let answer = rig.get(&format!("{KEYS}?{query}")).await;
        let name = query.split('=').next().unwrap();
        assert_eq!(answer.text_at("/error/details/field"), format!("query.{name}"), "{query}");
    }
}

#[tokio::test]
async fn a_released_key_is_free_and_its_jobs_go_on() {
    let rig = Rig::new();
    let job = r#"{"type":"a","args":[],"unique":{"while_active":"queue_latest"}}"#;
    let running = rig.enqueue(job).await;
    let key = key_of(&rig, &running).await;
    rig.fetch().await;
    let successor = rig.post("/ojs/v1/jobs", job).await;
    assert_eq!(successor.text_at("/job/unique/waits_for"), running);
    let successor = successor.text_at("/job/id");
    let release = format!("{KEYS}/{key}/release");
    for wrong in
        [r#"{"raeson":"x"}"#, r#"{"reason":1}"#, "[]", &format!(r#"{{"reason":"{}"}}"#, "x".repeat(1001))]
    {
        assert_eq!(rig.post(&release, wrong).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let answer = rig.post(&release, r#"{"reason":"its worker is gone"}"#).await.json();
    let mut released: Vec<Value> = answer["released"].as_array().unwrap().clone();
    released.sort_by_key(|job| job["job_id"] != running.as_str());
    assert_eq!((&answer["key"], &answer["remaining"]), (&key.as_str().into(), &0.into()));
    assert_eq!(released[0], json!({"job_id": running, "state": "active"}));
    assert_eq!(released[1]["job_id"], successor.as_str());

    let shown = rig.get(&format!("/ojs/v1/jobs/{running}")).await;
    assert_eq!(
        shown.json()["unique"]["released"],
        json!({"at": "2027-01-15T08:00:00.000Z", "key": key, "by": "operator", "reason": "its worker is gone"})
    );
    assert_eq!(shown.json()["unique"].get("uniqueness_key"), None);
    assert_eq!(rig.fetch().await, successor, "who waited for it was let go");
    assert_eq!(rig.post(&release, "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(rig.post(&format!("{KEYS}/x/release"), "").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn questions_about_keys_do_not_wait_for_those_that_write() {
    let store = Arc::new(StallingStore::new());
    let rig = Rig::with(Setup { store: Arc::clone(&store) as _, ..Setup::default() });
    let job = r#"{"type":"a","args":[],"unique":{"on_conflict":"ignore"}}"#;
    let id = rig.enqueue(job).await;
    let key = key_of(&rig, &id).await;
    store.stall();
    let stuck = tokio::time::timeout(Duration::from_millis(20), rig.post("/ojs/v1/jobs", job)).await;
    assert!(stuck.is_err(), "an enqueue waits for the disk");
    assert_eq!(rig.post("/ojs/v1/unique/explain", job).await.text_at("/job_id"), id);
    let with_id = job.replace(r#""type""#, &format!(r#""id":"{id}","type""#));
    assert_eq!(rig.post("/ojs/v1/unique/explain", &with_id).await.text_at("/outcome"), "rejected");
    assert_eq!(rig.get(&format!("{KEYS}/{key}")).await.text_at("/holders/0/job_id"), id);
    assert_eq!(rig.get(KEYS).await.text_at("/keys/0/key"), key);
}
