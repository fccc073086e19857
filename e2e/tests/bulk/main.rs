//! Bulk: each job of a request is decided on its own and answered on its own, in one commit.

mod atomic;
mod outcomes;
mod partial;
mod repeated;
mod sizes;

use e2e::{Answer, Client};
use serde_json::Value;

/// One member of every item, in order.
fn column(answer: &Answer, name: &str) -> Vec<Value> {
    let items = answer.list("/items");
    items.iter().map(|item| item[name].clone()).collect()
}

/// Panics unless the answer adds up: as many items as it says, in order, with as many good ones as it says, and
/// every job that it shows can be read.
#[track_caller]
fn is_sound(client: &mut Client, answer: &Answer, status: u16) {
    answer.is(status);
    let items = answer.list("/items");
    assert_eq!(answer["total"], items.len(), "{}", answer.body);
    assert_eq!(answer.header("x-ojs-batch-size"), Some(items.len().to_string().as_str()));
    let is_good = |item: &&Value| item["error"].is_null();
    let good = items.iter().filter(is_good).count();
    assert_eq!(answer["succeeded"], good, "{}", answer.body);
    assert_eq!(answer["failed"], items.len() - good, "{}", answer.body);
    for (number, item) in items.iter().enumerate() {
        assert_eq!(item["index"], number, "{item}");
        let expected = match item["outcome"].as_str() {
            Some("created" | "replaced") => "created",
            Some("existing" | "updated" | "rejected") => "duplicate",
            Some(outcome) => panic!("an unknown outcome {outcome}"),
            None => "failed",
        };
        assert_eq!(item["status"], expected, "{item}");
        match item["job"]["id"].as_str() {
            Some(id) => assert_eq!(client.job(id)["id"], id),
            None => assert!(item["error"]["code"].is_string(), "neither a job nor an error: {item}"),
        }
    }
}
