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
