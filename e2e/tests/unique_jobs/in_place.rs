//! The `replace` member: the listed fields of the holder are overwritten, and nothing else.

use e2e::{Client, FAR_FUTURE, Holder, Job, Server, job};
use serde_json::{Value, json};

fn updating(replace: &Value) -> Job {
    job("digest.send").unique(json!({"keys": ["type"], "states": "all", "replace": replace}))
}

#[track_caller]
fn bring(client: &mut Client, replace: &Value, state: &str) -> Holder {
    Holder::bring(client, &updating(replace).args(json!([{"version": 1}])).with("priority", 1), "q", state)
}

#[test]
fn the_listed_fields_of_a_waiting_holder_are_overwritten() {
    let server = Server::start();
    let mut client = server.client();
    let replace = json!({"available": ["args", "tags"]});
    let holder = bring(&mut client, &replace, "available");
    let next = updating(&replace).on("q").args(json!([{"version": 2}])).with("priority", 9);
    let answer = client.enqueue(&next.with("tags", json!(["late"])));
    answer.is(200);
    assert_eq!(answer.id(), holder.id);
    assert_eq!(answer["deduplicated"], true);
    assert_eq!(answer["outcome"], "updated");
    assert_eq!(answer["updated"], json!(["args", "tags"]));
    let stored = client.job(&holder.id);
    assert_eq!(stored["args"], json!([{"version": 2}]));
    assert_eq!(stored["tags"], json!(["late"]));
    assert_eq!(stored["priority"], 1, "not listed");
    assert_eq!(stored["state"], "available");
}

#[test]
fn a_plain_list_counts_in_every_state() {
    for state in ["scheduled", "available", "pending", "retryable", "active", "completed"] {
        let server = Server::start();
        let mut client = server.client();
        let holder = bring(&mut client, &json!(["args"]), state);
        let answer = client.enqueue(&updating(&json!(["args"])).args(json!([{"version": 2}])));
        assert_eq!(answer.is(200)["outcome"], "updated", "{state}");
        let stored = client.job(&holder.id);
        assert_eq!(stored["args"], json!([{"version": 2}]), "{state}");
        assert_eq!(stored["state"], state);
    }
}

#[test]
fn a_holder_in_a_state_that_is_not_listed_stays_untouched() {
    let server = Server::start();
    let mut client = server.client();
    let replace = json!({"scheduled": ["args"]});
    let holder = bring(&mut client, &replace, "available");
    let answer = client.enqueue(&updating(&replace).args(json!([{"version": 2}])));
    answer.is(200);
    assert_eq!(answer["outcome"], "existing");
    assert_eq!(answer["deduplicated"], true);
    assert_eq!(answer.id(), holder.id);
    assert_eq!(client.job(&holder.id)["args"], json!([{"version": 1}]));
}

#[test]
fn a_new_start_moves_the_holder_between_scheduled_and_available() {
    let server = Server::start();
    let mut client = server.client();
    let replace = json!(["scheduled_at"]);
    let holder = bring(&mut client, &replace, "available");
    let answer = client.enqueue(&updating(&replace).with("scheduled_at", FAR_FUTURE));
    assert_eq!(answer.is(200)["updated"], json!(["scheduled_at"]));
    assert_eq!(client.state(&holder.id), "scheduled");
    assert!(client.fetch("q", 1).is_empty());

    client.enqueue(&updating(&replace).with("scheduled_at", "2020-01-01T00:00:00Z")).is(200);
    assert_eq!(client.state(&holder.id), "available");
    assert_eq!(client.fetch_one("q").id, holder.id);
}

#[test]
fn a_new_queue_moves_the_holder_there() {
    let server = Server::start();
    let mut client = server.client();
    let replace = json!(["queue", "priority"]);
    let holder = bring(&mut client, &replace, "available");
    client.enqueue(&updating(&replace).on("fast").with("priority", 50)).is(200);
    assert!(client.fetch("q", 1).is_empty());
    let moved = client.fetch_one("fast");
    assert_eq!(moved.id, holder.id);
    assert_eq!(moved.job["priority"], 50);
    assert_eq!((client.count("q", "available"), client.count("fast", "active")), (0, 1));
}

#[test]
fn a_running_attempt_goes_on_with_what_it_was_given() {
    let server = Server::start();
    let mut client = server.client();
    let replace = json!(["args"]);
    let holder = bring(&mut client, &replace, "active");
    let running = holder.delivery.expect("a worker has it");
    client.enqueue(&updating(&replace).args(json!([{"version": 2}]))).is(200);
    assert_eq!(running.job["args"], json!([{"version": 1}]));
    client.ack(&running).is(200);
    assert_eq!(client.job(&holder.id)["args"], json!([{"version": 2}]));
}

#[test]
fn the_newest_of_several_holders_is_updated() {
    let server = Server::start();
    let mut client = server.client();
    let old = Holder::bring(&mut client, &updating(&json!(["args"])), "old", "completed");
    let waiting = json!({"keys": ["type"], "states": ["available"]});
    let new = client.create(&job("digest.send").unique(waiting));
    let answer = client.enqueue(&updating(&json!(["args"])).args(json!([{"version": 3}])));
    answer.is(200);
    assert_eq!(answer.id(), new);
    assert_eq!(client.job(&new)["args"], json!([{"version": 3}]));
    assert_eq!(client.job(&old.id)["args"], json!([{}]));
    assert_eq!(client.job(&new)["unique"]["duplicates"]["count"], 1);
}
