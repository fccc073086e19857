//! What the server counts about duplicates.

use e2e::{Server, job};
use serde_json::{Value, json};

/// Each rule with a policy, or the members of a job key, under which a waiting holder is met by it; a running one for
/// `queue_latest`.
fn rules() -> Vec<(&'static str, Value)> {
    vec![
        ("reject", json!({"unique": {"on_conflict": "reject"}})),
        ("ignore", json!({"unique": {"on_conflict": "ignore"}})),
        ("replace", json!({"unique": {"on_conflict": "replace"}})),
        ("replace_except_schedule", json!({"unique": {"on_conflict": "replace_except_schedule"}})),
        ("update", json!({"unique": {"replace": ["args"]}})),
        ("debounce", json!({"unique": {"debounce": {"wait": "PT1H"}}})),
        ("queue_latest", json!({"unique": {"while_active": "queue_latest", "on_conflict": "ignore"}})),
        ("job_key", json!({"job_key": "name"})),
    ]
}

#[test]
fn conflicts_are_counted_by_rule_and_explanations_are_not() {
    let server = Server::start();
    let mut client = server.client();
    for (rule, attributes) in rules() {
        let unique = job(&format!("work.{rule}")).with_all(&attributes).on(&rule.replace('_', "-"));
        let counter = format!("ojs_unique_conflicts_total{{strategy=\"{rule}\"}}");
        client.create(&unique);
        if rule == "queue_latest" {
            client.fetch_one("queue-latest");
        }
        assert_eq!(client.metric(&counter), 0, "{rule}: the first met nobody");
        client.explain(&unique).is(200);
        assert_eq!(client.metric(&counter), 0, "{rule}: nothing happened");
        client.enqueue(&unique);
        assert_eq!(client.metric(&counter), 1, "{rule}");
        client.bulk(&[unique.clone(), unique]);
        assert_eq!(client.metric(&counter), 3, "{rule}");
    }
}

#[test]
fn enqueues_that_a_holder_answered_are_counted() {
    let server = Server::start();
    let mut client = server.client();
    for (strategy, counted) in [("reject", 0), ("ignore", 1), ("replace", 1)] {
        let unique = job(&format!("work.{strategy}")).on_conflict(strategy);
        client.create(&unique);
        client.enqueue(&unique);
        assert_eq!(client.metric("ojs_jobs_deduplicated_total"), counted, "{strategy}");
    }
    client.bulk(&vec![job("named").job_key("name"); 3]).is(201);
    assert_eq!(client.metric("ojs_jobs_deduplicated_total"), 3);
}

#[test]
fn held_and_released_keys_are_counted() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").on_conflict("reject"));
    client.create(&job("a.b").job_key("name"));
    client.create(&job("a.b"));
    assert_eq!(client.metric("ojs_unique_keys_held"), 2);
    let key = client.key_of(&id);
    client.release(&key).is(200);
    assert_eq!(client.metric("ojs_unique_keys_released_total"), 1);
    assert_eq!(client.metric("ojs_unique_keys_held"), 1);
    client.remove_job_key("name").is(200);
    assert_eq!(client.metric("ojs_unique_keys_held"), 0);
}
