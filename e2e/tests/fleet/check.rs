//! The comparison of the book with servers after a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use e2e::fleet::{Fleet, SERVERS};
use e2e::{Client, Delivery, Heard, Random, Request, TERMINAL, clock, ids, together};
use serde_json::{Value, json};

use crate::book::Book;
use crate::counters::count;
use crate::load::KEYS;
use crate::order::{Order, QUEUES};
use crate::record::Birth;

const DRAIN_MAX: Duration = Duration::from_mins(1);

/// Everything that is compared after each fault; of the jobs so many.
pub(crate) fn after_fault(fleet: &Fleet, book: &Book, random: &mut Random, sample_max: usize) {
    resend(fleet, book, random);
    let mut client = fleet.client(random.below(SERVERS));
    let mut touched = book.take_touched();
    while touched.len() > sample_max {
        touched.swap_remove(random.below(touched.len()));
    }
    for id in &touched {
        compare(&mut client, book, id);
    }
    one_holder_per_key(&mut client, book, random);
    held_keys_have_holders(&mut client);
}

/// Repeats every order whose outcome is unknown, at any server: it is safe, and afterwards it is known.
fn resend(fleet: &Fleet, book: &Book, random: &mut Random) {
    for order in book.take_open() {
        count(&book.counters.resent);
        let mut client = fleet.client(random.below(SERVERS));
        let has_happened = client.get(&format!("/ojs/v1/jobs/{}", order.id)).status == 200;
        count(if has_happened {
            &book.counters.unknown_had_happened
        } else {
            &book.counters.unknown_had_not_happened
        });
        let first = client.send(&order.request());
        order.settle(book, &first);
        let again = fleet.client(random.below(SERVERS)).send(&order.request());
        assert_eq!((again.status, again.body), (first.status, first.body), "the answer changed");
    }
}

/// Compares one job, and learns from it what was unknown.
fn compare(client: &mut Client, book: &Book, id: &str) -> Option<Value> {
    count(&book.counters.checked);
    let answer = client.get(&format!("/ojs/v1/jobs/{id}"));
    if answer.status == 404 {
        book.is_absent(id);
        return None;
    }
    let job = answer.is(200)["job"].clone();
    book.exists(id, &job);
    Some(job)
}

/// At most one job holds each key, it is the one that a duplicate is told of, and a key without a holder is free.
fn one_holder_per_key(client: &mut Client, book: &Book, random: &mut Random) {
    let mut unfinished: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, record) in book.jobs().iter() {
        if let Some(key) = &record.key
            && record.end.is_none()
            && record.birth != Birth::Refused
        {
            unfinished.entry(key.clone()).or_default().push(id.clone());
        }
    }
    for number in 0..KEYS {
        let key = format!("key-{number}");
        let candidates = unfinished.remove(&key).unwrap_or_default();
        let is_alive = |id: &&String| {
            compare(client, book, id)
                .is_some_and(|job| !TERMINAL.contains(&job["state"].as_str().unwrap_or_default()))
        };
        let alive: Vec<&String> = candidates.iter().filter(is_alive).collect();
        assert!(alive.len() < 2, "{key} has the holders {alive:?}");
        let order = Order {
            id: ids::fresh(random),
            unique: Some((key, "reject")),
            repeat_key: format!("probe-{:016x}", random.bits()),
        };
        let heard = book.place(client, order.clone());
        let Heard::Answer(answer) = heard else { panic!("a probe was not answered: {heard:?}") };
        match alive.first() {
            None => assert_eq!(answer.is(201).id(), order.id, "a key without a holder is not free"),
            Some(holder) => {
                assert_eq!(answer.is(409)["error"]["details"]["existing_job_id"], holder.as_str());
            }
        }
    }
}

/// Every key in the list has a living holder that carries it, and no job stands there twice.
fn held_keys_have_holders(client: &mut Client) {
    let mut seen = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let page = client.held_keys(&format!("limit=50{cursor}"));
        for entry in page.is(200).list("/keys") {
            let id = entry["job_id"].as_str().unwrap_or_default();
            assert!(seen.insert(id.to_owned()), "twice in the list: {entry}");
            // Leases run out meanwhile, but nobody works: no job ends.
            let job = client.job(id);
            assert_eq!(job["unique"]["uniqueness_key"], entry["key"], "{entry}: {job}");
            assert!(!TERMINAL.contains(&job["state"].as_str().unwrap_or_default()), "{entry}: {job}");
        }
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { return };
        cursor = format!("&cursor={next}");
    }
}

/// Finishes every job that can still be delivered.
pub(crate) fn drain(fleet: &Fleet, book: &Book) {
    let started = clock::now();
    let left = |client: &mut Client| -> u64 {
        let states = ["available", "active", "retryable"];
        QUEUES.iter().map(|queue| states.iter().map(|state| client.count(queue, state)).sum::<u64>()).sum()
    };
    together(SERVERS, |number| {
        let mut client = fleet.client(number);
        while left(&mut client) > 0 {
            assert!(started.elapsed() < DRAIN_MAX, "{} jobs are never delivered", left(&mut client));
            let since = book.moment();
            let body = json!({"queues": QUEUES, "count": 50, "wait_ms": 50});
            let fetched = client.send(&Request::post("/ojs/v1/workers/fetch", body.to_string()));
            for delivery in Delivery::all(fetched.is(200)) {
                book.delivered(&delivery, since);
                client.ack(&delivery).is(200);
                book.ended(&delivery.id, "completed");
            }
        }
    });
}

/// Compares every job: each that was accepted has ended, as was acknowledged, and the counts say the same.
pub(crate) fn everything(fleet: &Fleet, book: &Book) {
    let all: Vec<String> = book.jobs().keys().cloned().collect();
    together(SERVERS, |number| {
        let mut client = fleet.client(number);
        for id in all.iter().skip(number).step_by(SERVERS) {
            compare(&mut client, book, id);
        }
    });
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, record) in book.jobs().iter() {
        assert!(record.end.is_some() || record.birth != Birth::Accepted, "{id} never ended: {record:?}");
        if let Some((end, _)) = record.end {
            *ends.entry(end).or_default() += 1;
        }
    }
    let mut client = fleet.client(0);
    assert!(client.fetch_with(&json!({"queues": QUEUES, "count": 100})).is_empty());
    for end in TERMINAL {
        let counted: u64 = QUEUES.iter().map(|queue| client.count(queue, end)).sum();
        assert_eq!(counted, ends.get(end).copied().unwrap_or(0), "{end} jobs");
    }
}
