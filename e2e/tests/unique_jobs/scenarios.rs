//! The eleven scenarios of the unique-jobs document, section 14.

use e2e::clock::{self, SOON};
use e2e::{Holder, Server, job, together};
use serde_json::json;

#[test]
fn scenario_01_basic_deduplication() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.enqueue(&job("email.send").on_conflict("reject"));
    first.is(201);
    assert_eq!(first["outcome"], "created");
    assert_eq!(first.header("location"), Some(format!("/ojs/v1/jobs/{}", first.id()).as_str()));

    let second = client.enqueue(&job("email.send").on_conflict("reject"));
    second.is_refusal(409, "duplicate");
    let details = &second["error"]["details"];
    assert_eq!(details["existing_job_id"], first["job"]["id"]);
    assert_eq!(details["existing_job_state"], "available");
    let key = second.text("/error/details/uniqueness_key");
    assert!(key.len() == 64 && key.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{key}");
    assert_eq!(details["unique_key"], details["uniqueness_key"]);
    assert_eq!(second["error"]["retryable"], false);
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn scenario_02_args_key_filtering() {
    let server = Server::start();
    let mut client = server.client();
    let policy = json!({"keys": ["type", "args"], "args_keys": ["user_id"]});
    let to = |user: u32, template: &str| {
        job("email.send").args(json!([{"user_id": user, "template": template}])).unique(policy.clone())
    };
    client.create(&to(42, "welcome"));
    client.enqueue(&to(42, "goodbye")).is_refusal(409, "duplicate");
    client.create(&to(99, "welcome"));
}

#[test]
fn scenario_03_period_expiry() {
    let server = Server::start();
    let mut client = server.client();
    let ping = job("ping").unique(json!({"keys": ["type"], "period": "PT1S"}));
    let before = clock::now();
    client.create(&ping);
    client.enqueue(&ping).is_refusal(409, "duplicate");
    clock::until("the window of the first job closes", SOON, || match client.enqueue(&ping) {
        answer if answer.status == 409 => false,
        answer => answer.is(201)["outcome"] == "created",
    });
    assert!(before.elapsed().as_millis() >= 1000, "the window closed early");
}

#[test]
fn scenario_04_state_filtering() {
    let server = Server::start();
    let mut client = server.client();
    let report = job("report.daily").on_conflict("reject");
    Holder::bring(&mut client, &report, "reports", "completed");
    client.create(&report.on("reports"));
}

#[test]
fn scenario_05_state_filtering_with_terminal_states() {
    let server = Server::start();
    let mut client = server.client();
    let states = json!(["available", "active", "scheduled", "retryable", "pending", "completed"]);
    let invoice = job("invoice.generate").unique(json!({"keys": ["type"], "states": states}));
    let done = Holder::bring(&mut client, &invoice, "invoices", "completed");
    let answer = client.enqueue(&invoice);
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["existing_job_id"], done.id.as_str());
    assert_eq!(answer["error"]["details"]["existing_job_state"], "completed");
}

#[test]
fn scenario_06_replace_strategy() {
    let server = Server::start();
    let mut client = server.client();
    let resize = job("resize.avatar").on_conflict("replace");
    let old = client.create(&resize);
    let answer = client.enqueue(&resize);
    answer.is(201);
    assert_eq!(answer["outcome"], "replaced");
    assert_eq!(answer["replaced"], json!([old]));
    assert_ne!(answer.id(), old);
    assert_eq!(client.state(&old), "cancelled");
    assert_eq!(client.state(&answer.id()), "available");
}

#[test]
fn scenario_07_ignore_strategy() {
    let server = Server::start();
    let mut client = server.client();
    let invoice = job("invoice.generate").on_conflict("ignore");
    let first = client.enqueue(&invoice);
    first.is(201);
    assert_ne!(first["deduplicated"], true);
    let second = client.enqueue(&invoice);
    second.is(200);
    assert_eq!(second.id(), first.id());
    assert_eq!(second["deduplicated"], true);
    assert_eq!(second["outcome"], "existing");
    assert_eq!(second["job"]["state"], "available");
}

#[test]
fn scenario_08_queue_scoping() {
    let server = Server::start();
    let mut client = server.client();
    let resize = job("image.resize").unique(json!({"keys": ["type", "queue"]}));
    client.create(&resize.clone().on("a"));
    client.create(&resize.clone().on("b"));
    client.enqueue(&resize.on("a")).is_refusal(409, "duplicate");
}

#[test]
fn scenario_09_invalid_policy_rejection() {
    let server = Server::start();
    let mut client = server.client();
    let warm = job("cache.warm").unique(json!({"keys": ["meta"]}));
    client.enqueue(&warm).is_refusal(400, "invalid_request");
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn scenario_10_retry_interaction() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject");
    let failed = Holder::bring(&mut client, &send, "mail", "retryable");
    let answer = client.enqueue(&send);
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["existing_job_id"], failed.id.as_str());
    assert_eq!(answer["error"]["details"]["existing_job_state"], "retryable");
}

#[test]
fn scenario_11_concurrent_enqueue() {
    const CLIENTS: usize = 24;
    let server = Server::start();
    let send = job("email.send").on_conflict("reject");
    let statuses = together(CLIENTS, |_| server.client().enqueue(&send).status);
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), CLIENTS - 1, "{statuses:?}");
}
