//! Limits that cannot be meant.

use e2e::Server;
use serde_json::json;

use crate::{body, put};

#[test]
fn each_names_its_place() {
    let server = Server::start();
    let mut client = server.client();
    let cases = [
        (json!({"concurrency": 1}), "options.rate_limit.key"),
        (json!({"key": "@queue:mail"}), "options.rate_limit.key"),
        (json!({"key": "a", "concurrency": -1}), "options.rate_limit.concurrency"),
        (json!({"key": "a", "concurrency": 1.5}), "options.rate_limit.concurrency"),
        (json!({"key": "a", "rate": {"limit": 0, "period": "PT1S"}}), "options.rate_limit.rate.limit"),
        (json!({"key": "a", "rate": {"limit": 1}}), "options.rate_limit.rate.period"),
        (json!({"key": "a", "rate": {"limit": 1, "period": "soon"}}), "options.rate_limit.rate.period"),
        (json!({"key": "a", "rate": {"limit": 1, "period": "P9999D"}}), "options.rate_limit.rate"),
        (json!({"key": "a", "throttle": {"limit": 5000, "period": "PT1S"}}), "options.rate_limit.throttle"),
        (json!({"key": "a", "rate": 1}), "options.rate_limit.period"),
        (json!({"key": "a", "period": "PT1S"}), "options.rate_limit.period"),
        (json!({"key": "a", "on_limit": "panic"}), "options.rate_limit.on_limit"),
        (json!({"key": "a", "share": "even"}), "options.rate_limit.share"),
        (json!({"key": "a", "share": true}), "options.rate_limit.share"),
        (json!({"share": "fair"}), "options.rate_limit.key"),
        (json!({"key": "a", "limit": 5}), "options.rate_limit.limit"),
        (json!("a"), "options.rate_limit"),
    ];
    for (limit, place) in cases {
        let answer = client.post("/ojs/v1/jobs", &body(&limit));
        answer.is(400);
        assert!(answer.message().starts_with(&format!("{place}: ")), "{limit}: {}", answer.message());
    }
    let unknown = client.post("/ojs/v1/jobs", &body(&json!({"key": "a", "share": "even"})));
    assert!(unknown.message().contains("known are line, fair"), "{}", unknown.message());
    put(&mut client, "/ojs/v1/rate-limits/a%20b", &json!({"concurrency": 1})).is(400);
    put(&mut client, "/ojs/v1/rate-limits/a", &json!({"expires_at": "2000-01-01T00:00:00Z"})).is(400);
    put(&mut client, "/ojs/v1/queues/_default/config", &json!({"concurrency": 1})).is(400);
}
