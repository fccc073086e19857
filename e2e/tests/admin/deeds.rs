//! Something is done about many jobs.

use std::sync::atomic::{AtomicBool, Ordering};

use e2e::{Client, Server, job, together};
use serde_json::{Value, json};

use crate::treat;

const JOBS: usize = 600;

fn fill(client: &mut Client, kind: &str) {
    let jobs: Vec<_> = (0..JOBS).map(|_| job(kind).on("many")).collect();
    client.batch(&jobs).is(201);
}

fn count(client: &mut Client, state: &str) -> u64 {
    client.count("many", state)
}

#[test]
fn what_workers_take_meanwhile_is_left_alone() {
    let server = Server::start();
    fill(&mut server.client(), "work");
    let is_over = AtomicBool::new(false);
    let taken = together(3, |number| {
        let mut client = server.client();
        if number == 0 {
            let filter = json!({"queue": "many", "state": "available"});
            let answer = treat(&mut client, "cancel", &filter);
            is_over.store(true, Ordering::Relaxed);
            let sum = |name: &str| answer[name].as_u64().unwrap_or_default();
            assert_eq!(sum("matched"), sum("succeeded") + sum("failed"), "{}", answer.body);
            return (sum("succeeded"), 0);
        }
        let mut taken = 0;
        while !is_over.load(Ordering::Relaxed) {
            for delivery in client.fetch("many", 5) {
                client.ack(&delivery).is(200);
                taken += 1;
            }
        }
        (0, taken)
    });
    let cancelled: u64 = taken.iter().map(|(cancelled, _)| cancelled).sum();
    let completed: u64 = taken.iter().map(|(_, taken)| taken).sum();
    let mut client = server.client();
    assert_eq!(count(&mut client, "cancelled"), cancelled);
    assert_eq!(count(&mut client, "completed"), completed, "no job was called off under its worker");
    assert_eq!(cancelled + completed + count(&mut client, "available"), JOBS as u64);
}

#[test]
fn many_are_cancelled_counted_and_removed() {
    let mut server = Server::start();
    let mut client = server.client();
    fill(&mut client, "work");
    let dry = json!({"filter": {"queue": "many"}, "dry_run": true});
    let counted = client.post("/ojs/v1/admin/jobs/bulk/cancel", &dry);
    assert_eq!((&counted.is(200)["matched"], &counted["dry_run"]), (&json!(JOBS), &json!(true)));
    assert_eq!(count(&mut client, "available"), JOBS as u64);
    let answer = treat(&mut client, "cancel", &json!({"queue": "many"}));
    assert_eq!((&answer.is(200)["succeeded"], &answer["has_more"]), (&json!(JOBS), &json!(false)));
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(count(&mut client, "cancelled"), JOBS as u64);
    let purge = json!({"states": ["cancelled"], "confirm": true});
    let request = e2e::Request::new("DELETE", "/ojs/v1/admin/queues/many/jobs");
    let purged = client.send(&request.header("Content-Type", "application/json").body(purge.to_string()));
    assert_eq!(purged.is(200)["purged_count"], JOBS);
    assert_eq!(count(&mut client, "cancelled"), 0);
    assert_eq!(client.get("/ojs/v1/admin/jobs").list("/items").len(), 0);
}

#[test]
fn given_up_jobs_are_tried_again_in_their_order() {
    let server = Server::start();
    let mut client = server.client();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(client.create(&job("work").on("many").retried(1, 1)));
    }
    for delivery in client.fetch("many", 5) {
        let error = json!({"type": "Broken", "message": "no"});
        client.post("/ojs/v1/workers/nack", &json!({"job_id": delivery.id, "error": error})).is(200);
    }
    assert_eq!(count(&mut client, "discarded"), 5);
    let answer = treat(&mut client, "retry", &json!({"error_type": "Broken", "since": "PT1H"}));
    assert_eq!(answer.is(200)["succeeded"], 5, "{}", answer.body);
    ids.sort();
    let again: Vec<String> = client.fetch("many", 5).into_iter().map(|delivery| delivery.id).collect();
    assert_eq!(again, ids);
}

#[test]
fn named_jobs_are_answered_one_by_one() {
    let server = Server::start();
    let mut client = server.client();
    let (waiting, done) = (client.create(&job("a").on("a")), client.create(&job("b").on("b")));
    let delivery = client.fetch("b", 1).remove(0);
    client.ack(&delivery).is(200);
    let body = json!({"job_ids": [waiting, done, "nonsense"]});
    let answer = client.post("/ojs/v1/jobs/bulk/delete", &body);
    let statuses: Vec<&Value> = answer.is(207).list("/items").iter().map(|item| &item["status"]).collect();
    assert_eq!(statuses, ["skipped", "deleted", "skipped"]);
    assert_eq!(answer["items"][0]["error"]["code"], "conflict");
    assert_eq!(answer["items"][2]["error"]["code"], "not_found");
    client.get(&format!("/ojs/v1/jobs/{done}")).is_error(404);
    assert_eq!(client.state(&waiting), "available");
    client.post("/ojs/v1/jobs/bulk/retry", &json!({"job_ids": [waiting]})).is(422);
}
