//! Leases: a token, a fence that only grows, and what a worker hears that lost its job.

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery, Server, job};
use serde_json::json;

use crate::redelivered;

#[track_caller]
fn fetch_as(client: &mut Client, worker: &str, visibility_ms: u64) -> Delivery {
    let body = json!({"queues": ["default"], "worker_id": worker, "visibility_timeout_ms": visibility_ms});
    clock::eventually("a job to fetch", SOON, || client.fetch_with(&body).pop())
}

#[test]
fn the_fence_grows_with_every_delivery() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").retried(10, 9));
    let mut last = 0;
    for _ in 0..4 {
        let delivery = redelivered(&mut client, "default");
        assert!(delivery.fence > last, "{} after {last}", delivery.fence);
        assert!(!delivery.lease.is_empty());
        last = delivery.fence;
        client.nack(&delivery).is(200);
    }
}

#[test]
fn the_fence_goes_on_after_a_dead_letter_is_revived() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let id = client.create(&job("a.b").with("retry", retry));
    let first = client.fetch_one("default");
    assert_eq!(client.nack(&first).is(200)["state"], "discarded");
    client.post(&format!("/ojs/v1/dead-letter/{id}/retry"), &json!({})).is(200);
    let second = client.fetch_one("default");
    assert_eq!(second.job["attempt"], 1);
    assert!(second.fence > first.fence);
}

#[test]
fn a_stale_lease_is_refused_and_changes_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").retried(200_000, 9));
    let stale = fetch_as(&mut client, "w-1", 200);
    let holder = fetch_as(&mut client, "w-2", 60_000);
    assert_eq!(holder.id, id);
    assert_ne!(holder.lease, stale.lease);
    let before = client.job(&id);

    let ack = json!({"job_id": id, "lease": stale.lease, "result": {"from": "w-1"}});
    client.post("/ojs/v1/workers/ack", &ack).is_refusal(409, "lease_lost");
    client.nack(&stale).is_refusal(409, "lease_lost");
    client.give_up(&stale).is_refusal(409, "lease_lost");
    assert_eq!(client.job(&id), before);

    client.ack(&holder).is(200);
    client.ack(&stale).is_refusal(409, "lease_lost");
    assert!(client.job(&id)["result"].is_null());
}

#[test]
fn a_made_up_lease_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    client.fetch_one("default");
    for lease in ["", "x", "00000000000000000000000000000000"] {
        let body = json!({"job_id": id, "lease": lease});
        client.post("/ojs/v1/workers/ack", &body).is_refusal(409, "lease_lost");
    }
    assert_eq!(client.state(&id), "active");
}

#[test]
fn another_workers_name_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    fetch_as(&mut client, "w-1", 60_000);
    let ack = |worker: &str| json!({"job_id": id, "worker_id": worker});
    client.post("/ojs/v1/workers/ack", &ack("w-2")).is_refusal(409, "lease_lost");
    assert_eq!(client.state(&id), "active");
    client.post("/ojs/v1/workers/ack", &ack("w-1")).is(200);
}

#[test]
fn a_heartbeat_names_the_jobs_that_are_lost() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b"));
    let lapsed = fetch_as(&mut client, "w-1", 200);
    let taken = fetch_as(&mut client, "w-2", 60_000);
    assert_eq!(taken.id, lapsed.id);
    client.create(&job("a.b"));
    client.create(&job("a.b"));
    let cancelled = fetch_as(&mut client, "w-1", 60_000);
    client.cancel(&cancelled.id).is(200);
    let held = fetch_as(&mut client, "w-1", 60_000);

    let beat = client.heartbeat("w-1", &[&lapsed.id, &cancelled.id, &held.id]);
    beat.is(200);
    assert_eq!(beat["jobs_extended"], json!([held.id]));
    let mut lost: Vec<_> = beat["lost_jobs"].as_array().expect("lost jobs").clone();
    lost.sort_by_key(ToString::to_string);
    let mut expected = vec![json!(lapsed.id), json!(cancelled.id)];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(lost, expected);
    assert_eq!(beat["state"], "running");
}

#[test]
fn a_late_ack_is_refused_once_another_worker_has_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let late = fetch_as(&mut client, "w-1", 200);
    let holder = fetch_as(&mut client, "w-2", 60_000);
    client.ack(&late).is_refusal(409, "lease_lost");
    assert_eq!(client.state(&id), "active");
    client.ack(&holder).is(200);
}

#[test]
fn a_lease_that_runs_out_on_the_last_attempt_discards_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").retried(10, 1));
    client.fetch_for("default", 200);
    clock::until("it is given up", SOON, || client.state(&id) == "discarded");
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn ack_and_nack_need_a_running_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let ack = json!({"job_id": id});
    client.post("/ojs/v1/workers/ack", &ack).is_refusal(409, "conflict");
    let nack = json!({"job_id": id, "error": {"type": "X", "message": "x"}});
    client.post("/ojs/v1/workers/nack", &nack).is_refusal(409, "conflict");
    let unknown = json!({"job_id": "01912345-6789-7abc-8def-0123456789ab"});
    client.post("/ojs/v1/workers/ack", &unknown).is_refusal(404, "not_found");
    assert_eq!(client.state(&id), "available");
}

#[test]
fn a_worker_without_a_lease_may_still_finish_its_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    client.fetch_one("default");
    let ack = client.post("/ojs/v1/workers/ack", &json!({"job_id": id}));
    ack.is(200);
    assert_eq!(ack["acknowledged"], true);
    assert_eq!(ack["id"], id.as_str());
    assert_eq!(ack["state"], "completed");
}

#[test]
fn a_requeued_job_goes_back_at_once() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").retried(200_000, 5));
    let first = client.fetch_one("default");
    let body = json!({"job_id": first.id, "lease": first.lease, "requeue": true});
    assert_eq!(client.post("/ojs/v1/workers/nack", &body).is(200)["state"], "available");
    let second = client.fetch_one("default");
    assert_eq!(second.id, first.id);
    assert!(second.fence > first.fence);
}

#[test]
fn a_heartbeat_with_a_stale_lease_extends_nothing() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b"));
    let stale = fetch_as(&mut client, "w-1", 200);
    let holder = fetch_as(&mut client, "w-1", 60_000);
    let beat = |delivery: &Delivery| {
        let job = json!({"job_id": delivery.id, "lease": delivery.lease});
        json!({"worker_id": "w-1", "active_jobs": [job]})
    };
    let answer = client.post("/ojs/v1/workers/heartbeat", &beat(&stale));
    assert_eq!(answer.is(200)["lost_jobs"], json!([stale.id]));
    assert_eq!(answer["jobs_extended"], json!([]));
    let answer = client.post("/ojs/v1/workers/heartbeat", &beat(&holder));
    assert_eq!(answer.is(200)["jobs_extended"], json!([holder.id]));
}

#[test]
fn a_heartbeat_names_each_job_once() {
    const JOBS: usize = 20;
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..JOBS {
        client.create(&job("a.b"));
    }
    let held = client.fetch_with(&json!({"queues": ["default"], "count": JOBS, "worker_id": "w-1"}));
    let ids: Vec<&str> = held.iter().map(|delivery| delivery.id.as_str()).collect();
    let beat = client.heartbeat("w-1", &[ids.clone(), ids.clone()].concat());
    assert_eq!(beat.is(200)["jobs_extended"], json!(ids));
}
