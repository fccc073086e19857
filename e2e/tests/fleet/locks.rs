//! A transaction of the users holds a lock: who needs what it holds waits for it, and nobody else notices.

use std::thread;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::fleet::{DATABASE, Fleet, SERVERS};
use e2e::{Client, FAR_FUTURE, Job, job, together};
use hapax_pg_cluster::Session;
use serde_json::json;

/// How long the others are watched while the lock is held.
const WATCHED: Duration = Duration::from_secs(3);
/// Whoever takes longer than this was hindered. Without the lock it is a few milliseconds.
const UNHINDERED: Duration = Duration::from_secs(1);
/// More than the engine lets wait at a time.
const WAITERS: usize = 16;
/// How long a request waits for a lock, and how much longer it may take to say so.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_MAX: Duration = Duration::from_secs(20);

#[test]
fn who_needs_a_locked_job_waits_and_nobody_else_does() {
    let fleet = Fleet::start();
    let id = fleet.client(0).create(&job("held").on("held"));
    let lock = hold(&fleet, &format!("SELECT 1 FROM hapax.jobs WHERE id = '{id}' FOR UPDATE"));
    let cancelled = while_held(&fleet, lock, |client| {
        // The line goes on without the job that is held.
        assert!(client.fetch("held", 1).is_empty());
        client.cancel(&id)
    });
    assert_eq!(cancelled.is(200)["job"]["state"], "cancelled", "{}", cancelled.body);
}

#[test]
fn who_needs_a_locked_key_waits_and_nobody_else_does() {
    let fleet = Fleet::start();
    let lock = hold(&fleet, &lock_of(&key_of(&mut fleet.client(0), &unique("held"))));
    let created = while_held(&fleet, lock, |client| client.enqueue(&unique("held")));
    created.is(201);
}

#[test]
fn many_who_wait_for_one_key_hinder_nobody_who_meets_others_at_another() {
    let fleet = Fleet::start();
    let lock = hold(&fleet, &lock_of(&key_of(&mut fleet.client(0), &unique("held"))));
    let answers = thread::scope(|scope| {
        let waiting =
            scope.spawn(|| together(WAITERS, |number| fleet.client(number).enqueue(&unique("held")).status));
        clock::throughout("all wait", Duration::from_millis(300), || !waiting.is_finished());
        // Servers meet at keys of their own all the time, and operators do rare things.
        let slowest = together(2 * SERVERS, |number| {
            let mut client = fleet.client(number);
            slowest_of((0..10).map(|round| {
                timed(|| {
                    let answer = client.enqueue(&unique(&format!("other-{round}")));
                    assert!([201, 200].contains(&answer.status), "{}", answer.body);
                    client
                        .send(&e2e::Request::new("POST", &format!("/ojs/v1/queues/q-{number}/pause")))
                        .is(200);
                })
            }))
        });
        drop(lock);
        assert!(slowest.iter().all(|slowest| *slowest < UNHINDERED), "hindered for {slowest:?}");
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
    assert!(answers.iter().all(|status| [200, 201].contains(status)), "{answers:?}");
}

#[test]
fn who_waits_too_long_is_told_that_nothing_was_done() {
    let fleet = Fleet::start();
    let mut client = fleet.client(0);
    let lock = hold(&fleet, &lock_of(&key_of(&mut client, &unique("held"))));
    let started = clock::now();
    let answer = client.enqueue(&unique("held"));
    let waited = started.elapsed();
    assert!(answer.status >= 500, "{}", answer.body);
    assert_eq!(answer.is_error(answer.status)["error"]["retryable"], true, "{}", answer.body);
    assert!((PATIENCE..PATIENCE_MAX).contains(&waited), "told after {waited:?}");
    drop(lock);
    assert_eq!(client.count("unique", "scheduled"), 0);
    client.enqueue(&unique("held")).is(201);
}

/// A job that is unique by this name and is never due.
fn unique(name: &str) -> Job {
    let policy = json!({"key": name, "on_conflict": "ignore"});
    job("unique").on("unique").with("scheduled_at", FAR_FUTURE).unique(policy)
}

/// The key that the job would have.
fn key_of(client: &mut Client, job: &Job) -> String {
    client.explain(job).is(200).text("/key").to_owned()
}

/// The number of a key's lock is its first eight bytes.
fn lock_of(key: &str) -> String {
    let number = u64::from_str_radix(&key[..16], 16).unwrap_or_else(|error| panic!("{error}: {key}"));
    format!("SELECT pg_advisory_xact_lock({})", number.cast_signed())
}

/// A transaction of the users that holds a lock until it is dropped.
fn hold(fleet: &Fleet, sql: &str) -> Session {
    let mut session = fleet.cluster.session(DATABASE).unwrap_or_else(|error| panic!("{error}"));
    for sql in ["BEGIN", sql] {
        session.query(sql).unwrap_or_else(|error| panic!("{error}"));
    }
    session
}

/// Sends a request that needs the lock, sees for a while that all others go on at every server, and lets the lock go.
fn while_held<T: Send>(fleet: &Fleet, lock: Session, request: impl FnOnce(&mut Client) -> T + Send) -> T {
    let mut client = fleet.client(0);
    thread::scope(|scope| {
        let waiting = scope.spawn(move || request(&mut client));
        let slowest = together(2 * SERVERS, |number| work_on(fleet, number));
        assert!(!waiting.is_finished(), "it did not wait for the lock");
        assert!(slowest.iter().all(|slowest| *slowest < UNHINDERED), "hindered for {slowest:?}");
        eprintln!("meanwhile the slowest of others took {slowest:?}");
        let released = clock::now();
        drop(lock);
        let answer = waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert!(released.elapsed() < SOON);
        answer
    })
}

/// Everything that has nothing to do with the lock, over and over; the longest that any of it took.
fn work_on(fleet: &Fleet, number: usize) -> Duration {
    let mut client = fleet.client(number);
    let queue = format!("own-{number}");
    let started = clock::now();
    let mut slowest = Duration::ZERO;
    for round in 0.. {
        if started.elapsed() > WATCHED {
            break;
        }
        let name = format!("own-{number}-{round}");
        let steps = [
            timed(|| drop(client.create(&job("own").on(&queue)))),
            timed(|| drop(client.create(&unique(&name)))),
            timed(|| {
                let delivery = client.fetch_one(&queue);
                client.ack(&delivery).is(200);
            }),
            timed(|| drop(client.get("/ojs/v1/queues").is(200).clone())),
            timed(|| drop(client.get("/ready").is(200).clone())),
        ];
        slowest = slowest.max(slowest_of(steps));
    }
    slowest
}

fn slowest_of(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().max().unwrap_or_default()
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = clock::now();
    work();
    started.elapsed()
}
