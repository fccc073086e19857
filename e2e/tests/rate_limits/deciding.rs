//! What operators and workers decide.

use e2e::Server;
use serde_json::json;

use crate::{QUEUE, create, put};

#[test]
fn an_operator_closes_and_opens_a_key() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, 3, &json!({"key": "api", "concurrency": 1}));
    let path = "/ojs/v1/rate-limits/api";
    assert_eq!(put(&mut client, path, &json!({"concurrency": 0})).is(200)["open"], false);
    assert_eq!(client.fetch(QUEUE, 9).len(), 0);
    assert_eq!(put(&mut client, path, &json!({"concurrency": 2})).is(200)["concurrency"]["available"], 2);
    assert_eq!(client.fetch(QUEUE, 9).len(), 2);
    client.delete(path).is(204);
    let shown = client.get(path);
    assert_eq!((&shown.is(200)["concurrency"]["limit"], &shown["active_count"]), (&json!(1), &json!(2)));
    assert_eq!((&shown["waiting_count"], &shown["closed_by"]), (&json!(1), &json!("concurrency")));
    let listed = client.get("/ojs/v1/rate-limits");
    assert_eq!(listed.is(200).list("/items").len(), 1);
}

#[test]
fn a_worker_closes_its_key() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, 2, &json!({"key": "api"}));
    let job = client.fetch_one(QUEUE);
    let error = json!({"message": "slow down", "rate_limit_until": "2999-01-01T00:00:00Z"});
    client.post("/ojs/v1/workers/nack", &json!({"job_id": job.id, "error": error})).is(200);
    assert_eq!(client.fetch(QUEUE, 9).len(), 0);
    let shown = client.get("/ojs/v1/rate-limits/api");
    assert_eq!(shown.is(200)["closed_by"], "rate_limit_until");
}

#[test]
fn a_queue_has_limits_of_its_own() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..5 {
        client.create(&e2e::job("work").on(QUEUE));
    }
    let config = format!("/ojs/v1/queues/{QUEUE}/config");
    assert_eq!(put(&mut client, &config, &json!({"concurrency": 2})).is(200)["concurrency"], 2);
    let running = client.fetch(QUEUE, 9);
    assert_eq!((running.len(), client.fetch(QUEUE, 9).len()), (2, 0));
    client.ack(&running[0]).is(200);
    assert_eq!(client.fetch(QUEUE, 9).len(), 1);
    let path = format!("/ojs/v1/admin/queues/{QUEUE}/rate-limit");
    assert_eq!(client.get(&path).is(200)["concurrency"], 2);
    client.delete(&path).is(204);
    client.get(&path).is(404);
    assert_eq!(client.fetch(QUEUE, 9).len(), 2);
}
