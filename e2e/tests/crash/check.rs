//! The comparison of the book with a server that has just come back.

use std::collections::BTreeMap;
use std::time::Duration;

use e2e::{Client, Delivery, Random, Request, Server, TERMINAL, clock, ids, together};
use serde_json::{Value, json};

use crate::book::Book;
use crate::counters::count;
use crate::load::{Customer, KEYS};
use crate::order::{Order, QUEUES, Wish};
use crate::record::Birth;

const DRAIN_MAX: Duration = Duration::from_mins(1);
const READERS: usize = 4;

/// Repeats every order that had no answer: it is safe, and afterwards it has one.
pub(crate) fn resend(client: &mut Client, book: &Book) {
    for order in book.take_open() {
        count(&book.counters.resent);
        let first = client.send(&order.request());
        order.settle(book, &first);
        let again = client.send(&order.request());
        assert_eq!(again.status, first.status, "the answer changed: {} {}", first.body, again.body);
        assert_eq!(again.body, first.body, "the answer changed");
    }
}

/// Compares some of the jobs that were spoken of since the last crash.
pub(crate) fn sample(client: &mut Client, book: &Book, random: &mut Random, most: usize) {
    let mut touched = book.take_touched();
    while touched.len() > most {
        touched.swap_remove(random.below(touched.len()));
    }
    for id in &touched {
        compare(client, book, id);
    }
}

/// Compares one job, and learns from it what was unknown.
pub(crate) fn compare(client: &mut Client, book: &Book, id: &str) -> Option<Value> {
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

/// At most one job holds each key, and a key without a holder is free.
pub(crate) fn keys(client: &mut Client, book: &Book, random: &mut Random) {
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
            wish: Wish::Unique { id: ids::fresh(random), key, strategy: "reject" },
            repeat_key: Some(format!("probe-{:016x}", random.bits())),
        };
        assert!(book.place(client, order.clone()), "the server is gone");
        count(&book.counters.keys_probed);
        let answer = client.send(&order.request());
        match alive.first() {
            None => assert_eq!(answer.is(201).id(), order.ids()[0], "a key without a holder is not free"),
            Some(holder) => {
                // The first answer again, with the id of the first request in it.
                assert_eq!(answer.is(409)["error"]["code"], "duplicate");
                assert_eq!(answer["error"]["details"]["existing_job_id"], holder.as_str());
            }
        }
    }
}

/// Letters have at least the version that was acknowledged, and at most the one that was sent.
pub(crate) fn updates(client: &mut Client, customers: &[Customer]) {
    for letter in customers.iter().map(|customer| &customer.letter) {
        let Some(id) = &letter.id else { continue };
        let job = client.job(id);
        assert_eq!(job["state"], "scheduled");
        let version = job["args"][0]["version"].as_u64().unwrap_or_default();
        assert!((letter.acknowledged..=letter.sent).contains(&version), "{id}: {version} of {letter:?}");
    }
}

/// Finishes every job that can still be delivered.
pub(crate) fn drain(client: &mut Client, book: &Book) {
    let started = clock::now();
    let left = |client: &mut Client| -> u64 {
        let states = ["available", "active", "retryable"];
        QUEUES.iter().map(|queue| states.iter().map(|state| client.count(queue, state)).sum::<u64>()).sum()
    };
    while left(client) > 0 {
        assert!(started.elapsed() < DRAIN_MAX, "{} jobs are never delivered", left(client));
        let since = book.moment();
        let body = json!({"queues": QUEUES, "count": 100, "wait_ms": 50});
        let fetched = client.send(&Request::post("/ojs/v1/workers/fetch", body.to_string()));
        for delivery in Delivery::all(fetched.is(200)) {
            book.delivered(&delivery, since);
            client.ack(&delivery).is(200);
            count(&book.counters.acked);
            book.ended(&delivery.id, "completed");
        }
    }
}

/// Compares every job: each that was accepted has ended, as was acknowledged.
pub(crate) fn everything(server: &Server, book: &Book) {
    let all: Vec<String> = book.jobs().keys().cloned().collect();
    together(READERS, |number| {
        let mut client = server.client();
        for id in all.iter().skip(number).step_by(READERS) {
            compare(&mut client, book, id);
        }
    });
    for (id, record) in book.jobs().iter() {
        let has_ended = record.end.is_some() || record.birth != Birth::Accepted;
        assert!(has_ended, "{id} was accepted and never ended: {record:?}");
    }
    let mut client = server.client();
    assert!(client.fetch_with(&json!({"queues": QUEUES, "count": 100})).is_empty());
}
