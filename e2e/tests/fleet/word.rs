//! Word between servers: who waits at one hears of what was enqueued at another.

use std::thread;
use std::time::{Duration, Instant};

use e2e::clock::{self, SOON};
use e2e::fleet::{Fleet, SERVERS};
use e2e::{Client, Delivery, job};
use serde_json::json;

const TRIES: usize = 20;
/// Long enough for a fetch to find nothing and to begin to wait.
const WAITED_BEFORE: Duration = Duration::from_millis(100);
/// From the answer to the producer until the job is in the worker's hands.
const HEARD_WITHIN: Duration = Duration::from_millis(200);
/// The same, if nobody was told.
const FOUND_WITHIN: Duration = Duration::from_millis(2500);
const LISTENERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'";
const END_LISTENERS: &str =
    "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'";

#[test]
fn a_fetch_that_waits_at_one_server_gets_what_is_enqueued_at_another_at_once() {
    let fleet = Fleet::start();
    all_listen(&fleet);
    let mut waits: Vec<Duration> = (0..TRIES).map(|number| wait_for_job(&fleet, number, |_| ())).collect();
    waits.sort();
    eprintln!("a job of another server came after {waits:?}");
    // One in twenty may fall into a busy moment of the machine.
    assert!(waits[TRIES - 2] < HEARD_WITHIN, "{waits:?}");
    assert!(waits[TRIES - 1] < FOUND_WITHIN, "{waits:?}");
}

#[test]
fn a_fetch_that_waits_gets_the_job_although_word_of_it_was_lost() {
    let fleet = Fleet::start();
    let mut waits = Vec::new();
    for number in 0..5 {
        all_listen(&fleet);
        waits.push(wait_for_job(&fleet, number, |fleet| {
            fleet.ask_database(END_LISTENERS);
        }));
    }
    eprintln!("without word, a job of another server came after {waits:?}");
    assert!(waits.iter().all(|wait| *wait < FOUND_WITHIN), "{waits:?}");
    // And the next word is heard again.
    all_listen(&fleet);
    assert!(wait_for_job(&fleet, 0, |_| ()) < HEARD_WITHIN);
}

fn all_listen(fleet: &Fleet) {
    let listeners = SERVERS.to_string();
    clock::until("all servers listen", SOON, || fleet.ask_database(LISTENERS) == listeners);
}

/// Lets a worker wait at one server, enqueues at another, and says how long after that the worker had the job.
fn wait_for_job(fleet: &Fleet, number: usize, just_before: impl FnOnce(&Fleet)) -> Duration {
    let queue = format!("quiet-{number}");
    let (mut worker, mut producer) = (fleet.client(number), fleet.client(number + 1));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| fetch(&mut worker, &queue));
        clock::throughout("the worker waits", WAITED_BEFORE, || !waiting.is_finished());
        just_before(fleet);
        let id = producer.create(&job("call").on(&queue));
        let enqueued = clock::now();
        let (delivery, at) = waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert_eq!(delivery.id, id);
        at.saturating_duration_since(enqueued)
    })
}

fn fetch(worker: &mut Client, queue: &str) -> (Delivery, Instant) {
    let mut found = worker.fetch_with(&json!({"queues": [queue], "wait_ms": 20_000}));
    (found.pop().unwrap_or_else(|| panic!("nothing came")), clock::now())
}
