//! The ledger: a holder counts what it turned away.

use e2e::{Request, Server, job};
use serde_json::json;

const KEPT: usize = 10;

#[test]
fn a_holder_counts_what_it_turned_away_and_names_the_requests() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject");
    let holder = client.create(&send);
    assert!(client.job(&holder)["unique"]["duplicates"].is_null(), "nothing was turned away yet");
    for (strategy, request_id) in [("reject", "req-one"), ("ignore", "req-two")] {
        let body = job("email.send").on_conflict(strategy).text();
        client.send(&Request::post("/ojs/v1/jobs", body).header("X-Request-Id", request_id));
    }
    let ledger = &client.job(&holder)["unique"]["duplicates"];
    assert_eq!(ledger["count"], 2);
    assert!(ledger["last_at"].is_string(), "{ledger}");
    let entries: Vec<_> = ledger["recent"].as_array().expect("entries").iter().collect();
    let entry = |request_id: &str| entries.iter().find(|entry| entry["request_id"] == request_id);
    assert_eq!(entry("req-one").expect("the first")["outcome"], "rejected");
    assert_eq!(entry("req-two").expect("the second")["outcome"], "existing");
    assert!(entries.iter().all(|entry| entry["at"].is_string()), "{ledger}");
}

#[test]
fn the_ledger_counts_all_and_keeps_the_last_ten() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("ignore");
    let holder = client.create(&send);
    for number in 0..KEPT + 3 {
        let request = Request::post("/ojs/v1/jobs", send.text());
        client.send(&request.header("X-Request-Id", &format!("req-{number}"))).is(200);
    }
    let ledger = &client.job(&holder)["unique"]["duplicates"];
    assert_eq!(ledger["count"], KEPT + 3);
    let recent = ledger["recent"].as_array().expect("entries");
    assert_eq!(recent.len(), KEPT);
    let last = format!("req-{}", KEPT + 2);
    assert!(recent.iter().any(|entry| entry["request_id"] == last.as_str()), "{ledger}");
    assert!(!recent.iter().any(|entry| entry["request_id"] == "req-2"), "{ledger}");
}

#[test]
fn the_ledger_survives_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject");
    let holder = client.create(&send);
    for _ in 0..3 {
        client.enqueue(&send).is(409);
    }
    server.crash_and_restart();
    let job = server.client().job(&holder);
    assert_eq!(job["unique"]["duplicates"]["count"], 3);
}

#[test]
fn an_updated_holder_keeps_its_ledger() {
    let server = Server::start();
    let mut client = server.client();
    let digest = |replace: serde_json::Value| {
        job("digest").unique(json!({"keys": ["type"], "replace": replace, "on_conflict": "reject"}))
    };
    let holder = client.create(&digest(json!(["args"])));
    client.enqueue(&digest(json!(["args"]))).is(200);
    client.enqueue(&digest(json!({"completed": ["args"]}))).is(200);
    let ledger = &client.job(&holder)["unique"]["duplicates"];
    assert_eq!(ledger["count"], 2);
    let outcomes: Vec<_> = ledger["recent"].as_array().expect("entries").iter().collect();
    assert!(outcomes.iter().any(|entry| entry["outcome"] == "updated"), "{ledger}");
    assert!(outcomes.iter().any(|entry| entry["outcome"] == "existing"), "{ledger}");
}
