//! What a crash must not touch: finished jobs, leases, attempts, fences, schedules and pauses.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{FAR_FUTURE, Server, job};
use serde_json::json;

#[test]
fn finished_jobs_are_never_delivered_again() {
    let mut server = Server::start();
    let mut client = server.client();
    let completed = client.create(&job("a.b"));
    let delivery = client.fetch_one("default");
    client.ack(&delivery).is(200);
    let discarded = client.create(&job("a.b"));
    let delivery = client.fetch_one("default");
    client.give_up(&delivery).is(200);
    let cancelled = client.create(&job("a.b"));
    client.cancel(&cancelled).is(200);
    for _ in 0..2 {
        server.crash_and_restart();
        let mut client = server.client();
        let states = [&completed, &discarded, &cancelled].map(|id| client.state(id));
        assert_eq!(states, ["completed", "discarded", "cancelled"]);
        assert!(client.fetch("default", 10).is_empty());
    }
}

#[test]
fn a_restart_takes_no_lease_away() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let held = client.fetch_for("default", 60_000);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.state(&id), "active");
    assert!(client.fetch("default", 1).is_empty());
    let beat = client.heartbeat("w-1", &[]);
    beat.is(200);
    client.ack(&held).is(200);
    assert_eq!(client.state(&id), "completed");
}

#[test]
fn an_extended_lease_stays_extended() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let held =
        client.fetch_with(&json!({"queues": ["default"], "worker_id": "w-1", "visibility_timeout_ms": 500}));
    let fetched = clock::now();
    let beat = json!({"worker_id": "w-1", "active_jobs": [id], "visibility_timeout_ms": 60_000});
    assert_eq!(client.post("/ojs/v1/workers/heartbeat", &beat).is(200)["jobs_extended"], json!([id]));
    server.crash_and_restart();
    let mut client = server.client();
    clock::until("the first end has passed", SOON, || {
        assert_eq!(client.state(&id), "active");
        fetched.elapsed() > Duration::from_millis(800)
    });
    client.ack(&held[0]).is(200);
}

#[test]
fn a_lease_that_ran_out_while_the_server_was_down_is_found_at_the_start() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let lost = client.fetch_for("default", 300);
    let fetched = clock::now();
    server.kill();
    clock::until("the lease has run out", SOON, || fetched.elapsed() > Duration::from_millis(350));
    server.start_again();
    let mut client = server.client();
    let again = clock::eventually("the reaper finds it", SOON, || client.fetch("default", 1).pop());
    assert_eq!(again.id, id);
    assert!(again.fence > lost.fence);
    assert_eq!(again.job["attempt"], 2);
    client.ack(&lost).is_refusal(409, "lease_lost");
}

#[test]
fn attempts_and_fences_go_on() {
    let mut server = Server::start();
    let id = server.client().create(&job("a.b").retried(10, 9));
    let mut last = 0;
    for attempt in 1..=4 {
        let mut client = server.client();
        let delivery = clock::eventually("a retry", SOON, || client.fetch("default", 1).pop());
        assert_eq!(delivery.id, id);
        assert_eq!(delivery.job["attempt"], attempt);
        assert!(delivery.fence > last);
        last = delivery.fence;
        client.nack(&delivery).is(200);
        server.crash_and_restart();
    }
    let errors = server.client().job(&id)["errors"].as_array().map(Vec::len);
    assert_eq!(errors, Some(4));
}

#[test]
fn schedules_keys_counts_and_pauses_go_on() {
    let mut server = Server::start();
    let mut client = server.client();
    let later = client.create(&job("later").with("scheduled_at", FAR_FUTURE));
    let soon = client.create(&job("soon").with("scheduled_at", "+PT0.5S"));
    let waiting = client.create(&job("waiting").with("pending", true));
    let unique = client.create(&job("unique").on("paused").on_conflict("reject"));
    client.post("/ojs/v1/queues/paused/pause", &json!({})).is(200);
    server.crash_and_restart();

    let mut client = server.client();
    assert_eq!(client.state(&later), "scheduled");
    assert_eq!(client.state(&waiting), "pending");
    assert!(client.fetch("paused", 1).is_empty());
    assert_eq!(client.count("paused", "available"), 1);
    let answer = client.enqueue(&job("unique").on_conflict("reject"));
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["existing_job_id"], unique.as_str());
    clock::until("the schedule is kept", SOON, || client.state(&soon) == "available");
    client.post("/ojs/v1/queues/paused/resume", &json!({})).is(200);
    assert_eq!(client.fetch_one("paused").id, unique);
}

#[test]
fn a_stopped_server_keeps_as_much_as_a_killed_one() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let held = client.fetch_for("default", 60_000);
    let waiting = client.create(&job("a.b"));
    server.signal("TERM");
    assert!(server.wait(SOON).success());
    server.start_again();
    let mut client = server.client();
    assert_eq!(client.state(&id), "active");
    assert_eq!(client.state(&waiting), "available");
    client.ack(&held).is(200);
}
