//! A fetch that waits: woken by the job it waits for, and by the server's end.

use std::thread;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Client, Server, job, together};
use serde_json::{Value, json};

/// How soon a waiting worker must have a job that has just come.
const WOKEN_WITHIN: Duration = Duration::from_millis(200);

fn waiting(queue: &str, wait_ms: u64) -> Value {
    json!({"queues": [queue], "wait_ms": wait_ms})
}

/// The connection of the waiting worker is seen by the server once an empty fetch on it was answered.
#[track_caller]
fn connected(server: &Server) -> Client {
    let mut client = server.client();
    assert!(client.fetch("default", 1).is_empty());
    client
}

#[test]
fn an_enqueue_wakes_a_waiting_fetch_at_once() {
    let server = Server::start();
    let mut producer = server.client();
    for round in 0..10 {
        let mut worker = connected(&server);
        thread::scope(|scope| {
            let fetch = scope.spawn(move || (worker.fetch_with(&waiting("default", 10_000)), clock::now()));
            // Some rounds enqueue before the fetch has arrived, some after: neither may miss the other.
            let pause = Duration::from_millis(round * 10);
            clock::throughout("the worker waits", pause, || !fetch.is_finished());
            let id = producer.create(&job("a.b"));
            let accepted = clock::now();
            let (jobs, received) = fetch.join().expect("the worker");
            assert_eq!(jobs[0].id, id);
            let late = received.saturating_duration_since(accepted);
            assert!(late < WOKEN_WITHIN, "woken after {late:?}");
        });
    }
}

#[test]
fn a_scheduled_job_wakes_a_waiting_fetch_when_it_is_due() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").with("scheduled_at", "+PT0.4S"));
    let accepted = clock::now();
    let jobs = client.fetch_with(&waiting("default", 10_000));
    assert_eq!(jobs[0].id, id);
    assert!(accepted.elapsed() < Duration::from_millis(400) + WOKEN_WITHIN, "after {:?}", accepted.elapsed());
}

#[test]
fn one_job_wakes_one_of_many() {
    const WORKERS: usize = 8;
    let server = Server::start();
    let found = together(WORKERS + 1, |number| match number {
        WORKERS => {
            server.client().create(&job("a.b"));
            0
        }
        _ => server.client().fetch_with(&waiting("default", 1_000)).len(),
    });
    let found: usize = found.into_iter().sum();
    assert_eq!(found, 1);
}

#[test]
fn a_fetch_that_waits_in_vain_is_answered_empty_and_in_time() {
    let server = Server::start();
    let mut client = server.client();
    let before = clock::now();
    assert!(client.fetch_with(&waiting("default", 500)).is_empty());
    let took = before.elapsed();
    assert!(took >= Duration::from_millis(480), "answered after {took:?}");
    assert!(took < Duration::from_millis(500) + WOKEN_WITHIN * 2, "answered after {took:?}");
}

#[test]
fn without_a_wait_an_empty_queue_is_answered_at_once() {
    let server = Server::start();
    let mut client = connected(&server);
    let before = clock::now();
    assert!(client.fetch("default", 1).is_empty());
    assert!(before.elapsed() < WOKEN_WITHIN, "answered after {:?}", before.elapsed());
}

#[test]
fn a_worker_that_hangs_up_takes_no_job_with_it() {
    let server = Server::start();
    let mut client = server.client();
    let mut gone = connected(&server);
    let request = e2e::Request::post("/ojs/v1/workers/fetch", waiting("default", 60_000).to_string());
    gone.write(&request.bytes()).expect("the request is sent");
    drop(gone);
    // The server learns of it when it learns of it; a job that comes later must find another worker.
    let mut patient = server.client();
    clock::until("a worker that is there gets the job", SOON, || {
        client.create(&job("a.b"));
        !patient.fetch_with(&waiting("default", 100)).is_empty()
    });
    assert_eq!(client.count("default", "active"), 1);
}

#[test]
fn a_server_that_is_told_to_stop_answers_waiting_fetches() {
    let mut server = Server::start();
    let mut worker = connected(&server);
    let fetch = thread::spawn(move || {
        let before = clock::now();
        let jobs = worker.fetch_with(&waiting("default", 30_000));
        (jobs.len(), before.elapsed())
    });
    clock::throughout("the worker waits", Duration::from_millis(300), || !fetch.is_finished());
    server.signal("TERM");
    let (jobs, took) = fetch.join().expect("the worker");
    assert_eq!(jobs, 0);
    assert!(took < Duration::from_secs(5), "it waited {took:?}");
    assert!(server.wait(SOON).success());
}

/// Lets a worker wait while `act` makes a job available, and panics unless the worker has it at once.
#[track_caller]
fn is_woken(server: &Server, what: &str, act: impl FnOnce(&mut Client)) {
    let mut worker = server.client();
    thread::scope(|scope| {
        let fetch = scope.spawn(move || (worker.fetch_with(&waiting("default", 10_000)), clock::now()));
        clock::throughout("the worker waits", Duration::from_millis(50), || !fetch.is_finished());
        act(&mut server.client());
        let acted = clock::now();
        let (jobs, received) = fetch.join().unwrap_or_else(|_| panic!("{what}: the worker failed"));
        assert_eq!(jobs.len(), 1, "{what} woke nobody");
        let late = received.saturating_duration_since(acted);
        assert!(late < WOKEN_WITHIN, "{what} woke after {late:?}");
    });
}

#[test]
fn everything_that_makes_a_job_available_wakes_a_waiting_fetch() {
    let server = Server::start();
    let mut client = server.client();
    is_woken(&server, "a batch", |client| {
        client.post("/ojs/v1/jobs/batch", &json!({"jobs": [job("a.b").json()]})).is(201);
    });
    let pending = client.create(&job("a.b").with("pending", true));
    is_woken(&server, "an activation", |client| {
        client.send(&e2e::Request::new("POST", &format!("/ojs/v1/jobs/{pending}/activate"))).is(200);
    });
    client.create(&job("a.b"));
    let held = client.fetch_one("default");
    is_woken(&server, "a job handed back", |client| {
        let body = json!({"job_id": held.id, "lease": held.lease, "requeue": true});
        client.post("/ojs/v1/workers/nack", &body).is(200);
    });
    client.create(&job("a.b"));
    client.fetch_for("default", 300);
    let fetched = clock::now();
    is_woken(&server, "a lease that runs out", |_| {
        clock::until("it has run out", SOON, || fetched.elapsed() >= Duration::from_millis(300));
    });
    client.create(&job("a.b").retried(300, 5));
    let failed = client.fetch_one("default");
    client.nack(&failed).is(200);
    let refused = clock::now();
    is_woken(&server, "a retry", |_| {
        clock::until("it is due", SOON, || refused.elapsed() >= Duration::from_millis(300));
    });
    client.post("/ojs/v1/queues/default/pause", &json!({})).is(200);
    client.create(&job("a.b"));
    is_woken(&server, "a resumed queue", |client| {
        client.post("/ojs/v1/queues/default/resume", &json!({})).is(200);
    });
    client.create(&job("a.b").with("scheduled_at", e2e::FAR_FUTURE).unique(json!({"key": "k"})));
    is_woken(&server, "a holder that is moved up", |client| {
        let update = json!({"key": "k", "replace": ["scheduled_at"]});
        client.enqueue(&job("a.b").unique(update)).is(200);
    });
}

#[test]
fn of_many_waiting_workers_each_gets_one_of_as_many_jobs() {
    const PAIRS: usize = 24;
    let server = Server::start();
    let found = together(2 * PAIRS, |number| {
        let mut client = server.client();
        if number % 2 == 0 {
            let queues = json!({"queues": ["other", "default"], "wait_ms": 10_000});
            let before = clock::now();
            let id = client.fetch_with(&queues).pop().map(|delivery| delivery.id);
            assert!(before.elapsed() < Duration::from_secs(5), "a wake-up was lost");
            return id;
        }
        client.create(&job("a.b"));
        None
    });
    let ids: std::collections::BTreeSet<String> = found.into_iter().flatten().collect();
    assert_eq!(ids.len(), PAIRS);
}
