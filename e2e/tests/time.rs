//! What the clock does: schedules, retries, lapses, time-outs and expiry, early never and late hardly.

use std::time::{Duration, Instant};

use e2e::clock::{self, SOON};
use e2e::{Client, Server, job};
use serde_json::json;

/// How late a promotion may be seen, on a machine that does other things as well. That it comes within milliseconds is what the
/// chores' own tests see, whose time does not depend on the machine; a look that came by chance would be a second apart.
const LATE_MAX: Duration = Duration::from_millis(700);

/// Two moments around a request: its effect happened between them.
struct Around {
    before: Instant,
    after: Instant,
}

fn around<T>(act: impl FnOnce() -> T) -> (T, Around) {
    let before = clock::now();
    let outcome = act();
    (outcome, Around { before, after: clock::now() })
}

impl Around {
    /// Waits for the job to reach the state, and panics if that was early or late.
    #[track_caller]
    fn is_followed(&self, after: Duration, client: &mut Client, id: &str, state: &str) {
        let what = format!("the job becomes {state}");
        let seen = clock::eventually(&what, SOON, || (client.state(id) == state).then(clock::now));
        assert!(seen >= self.before + after, "{:?} early", self.before + after - seen);
        let late = seen.saturating_duration_since(self.after + after);
        assert!(late <= LATE_MAX, "{late:?} late");
    }
}

#[test]
fn a_scheduled_job_becomes_available_when_it_is_due() {
    let server = Server::start();
    let mut client = server.client();
    for length in [300, 700, 1000] {
        let at = format!("+PT{}.{:03}S", length / 1000, length % 1000);
        let (id, enqueued) = around(|| client.create(&job("later").with("scheduled_at", at)));
        assert_eq!(client.state(&id), "scheduled");
        assert!(client.fetch("default", 1).is_empty());
        enqueued.is_followed(Duration::from_millis(length), &mut client, &id, "available");
        assert_eq!(client.fetch_one("default").id, id);
    }
}

#[test]
fn a_due_job_can_be_fetched_without_anybody_looking_before() {
    let server = Server::start();
    let mut client = server.client();
    let (id, enqueued) = around(|| client.create(&job("later").with("scheduled_at", "+PT0.5S")));
    let delivery = clock::eventually("the job is due", SOON, || client.fetch("default", 1).pop());
    assert_eq!(delivery.id, id);
    let due = enqueued.after + Duration::from_millis(500);
    assert!(clock::now().saturating_duration_since(due) <= LATE_MAX, "late");
}

#[test]
fn a_schedule_in_the_past_starts_at_once() {
    let server = Server::start();
    let mut client = server.client();
    let past = "2020-01-01T00:00:00+02:00";
    let answer = client.enqueue(&job("late").with("scheduled_at", past));
    assert_eq!(answer.is(201)["job"]["state"], "available");
    assert_eq!(answer["job"]["scheduled_at"], past, "as the client wrote it");
}

#[test]
fn the_first_and_the_last_second_of_the_calendar_are_times() {
    let server = Server::start();
    let mut client = server.client();
    for (at, state) in [("0001-01-01T00:00:00Z", "available"), ("9999-12-31T23:59:59Z", "scheduled")] {
        let answer = client.enqueue(&job("later").with("scheduled_at", at));
        assert_eq!(answer.is(201)["job"]["state"], state);
        assert_eq!(answer["job"]["scheduled_at"], at, "as the client wrote it");
    }
}

#[test]
fn retries_come_after_growing_pauses() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({
        "max_attempts": 4, "initial_interval": "PT0.3S", "backoff_coefficient": 2.0, "max_interval": "PT0.9S",
        "jitter": false,
    });
    let id = client.create(&job("flaky").with("retry", retry));
    for pause_ms in [300, 600, 900] {
        let delivery = client.fetch_one("default");
        let (answer, failed) = around(|| client.nack(&delivery));
        assert_eq!(answer.is(200)["state"], "retryable");
        assert_eq!(answer["retry_delay_ms"], pause_ms);
        assert!(answer["next_attempt_at"].is_string());
        failed.is_followed(Duration::from_millis(pause_ms), &mut client, &id, "available");
    }
    let last = client.fetch_one("default");
    assert_eq!(last.job["attempt"], 4);
    assert_eq!(client.nack(&last).is(200)["state"], "discarded");
    assert_eq!(client.job(&id)["errors"].as_array().map(Vec::len), Some(4));
}

#[test]
fn jitter_stays_between_half_and_one_and_a_half() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({"max_attempts": 2, "initial_interval": "PT10S", "jitter": true});
    let mut delays = Vec::new();
    for _ in 0..30 {
        client.create(&job("flaky").with("retry", retry.clone()));
        let delivery = client.fetch_one("default");
        delays.push(client.nack(&delivery).is(200)["retry_delay_ms"].as_u64().expect("a delay"));
    }
    assert!(delays.iter().all(|delay| (5_000..=15_000).contains(delay)), "{delays:?}");
    assert!(delays.iter().any(|delay| *delay != delays[0]), "no jitter: {delays:?}");
}

#[test]
fn a_lease_lapses_when_its_time_is_over() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("silent"));
    let (_, fetched) = around(|| client.fetch_for("default", 1000));
    fetched.is_followed(Duration::from_secs(1), &mut client, &id, "available");
}

#[test]
fn the_lease_of_the_fetch_goes_before_that_of_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("silent").with("visibility_timeout_ms", 400));
    let (_, fetched) = around(|| client.fetch_one("default"));
    fetched.is_followed(Duration::from_millis(400), &mut client, &id, "available");
    let (_, fetched) = around(|| client.fetch_for("default", 800));
    fetched.is_followed(Duration::from_millis(800), &mut client, &id, "available");
}

#[test]
fn a_heartbeat_moves_the_end_of_the_lease() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("slow"));
    let body = json!({"queues": ["default"], "worker_id": "w-1", "visibility_timeout_ms": 500});
    let fetched = clock::now();
    assert_eq!(client.fetch_with(&body).len(), 1);
    clock::until("most of the lease has passed", SOON, || fetched.elapsed() > Duration::from_millis(300));
    let (beat, beaten) = around(|| client.heartbeat("w-1", &[&id]));
    beat.is(200);
    beaten.is_followed(Duration::from_millis(500), &mut client, &id, "available");
}

#[test]
fn an_attempt_that_runs_too_long_fails() {
    let server = Server::start();
    let mut client = server.client();
    let slow = job("slow").with("timeout_ms", 500).retried(100_000, 3);
    let id = client.create(&slow);
    let (delivery, fetched) = around(|| client.fetch_one("default"));
    fetched.is_followed(Duration::from_millis(500), &mut client, &id, "retryable");
    assert_eq!(client.job(&id)["error"]["type"], "timeout");
    client.ack(&delivery).is_refusal(409, "lease_lost");
}

#[test]
fn a_job_that_nobody_started_in_time_expires() {
    let server = Server::start();
    let mut client = server.client();
    let (id, enqueued) = around(|| client.create(&job("stale").with("expires_at", "+PT0.5S")));
    enqueued.is_followed(Duration::from_millis(500), &mut client, &id, "discarded");
    assert!(client.fetch("default", 1).is_empty());
    let stored = client.job(&id);
    assert!(stored["completed_at"].is_null() && stored["discarded_at"].is_string(), "{stored}");
}

#[test]
fn a_job_that_was_started_in_time_does_not_expire() {
    let server = Server::start();
    let mut client = server.client();
    let (id, enqueued) = around(|| client.create(&job("brisk").with("expires_at", "+PT0.4S")));
    let delivery = client.fetch_one("default");
    clock::throughout("it runs on", Duration::from_millis(600), || client.state(&id) == "active");
    assert!(enqueued.after.elapsed() > Duration::from_millis(400));
    client.ack(&delivery).is(200);
}

#[test]
fn many_timers_fire_together() {
    const JOBS: usize = 500;
    let server = Server::start();
    let mut client = server.client();
    let jobs: Vec<_> = (0..JOBS).map(|_| job("later").with("scheduled_at", "+PT1S").json()).collect();
    let (answer, enqueued) = around(|| client.post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})));
    answer.is(201);
    let due = enqueued.after + Duration::from_secs(1);
    clock::until("all are promoted", SOON, || client.count("default", "available") == JOBS as u64);
    let late = clock::now().saturating_duration_since(due);
    assert!(late <= LATE_MAX * 2, "the last of {JOBS} came {late:?} late");
}
