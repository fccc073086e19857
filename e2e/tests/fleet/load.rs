//! The load: customers that enqueue, fetch, finish, fail and replace, whatever happens to the servers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use e2e::clock::{self, SOON};
use e2e::fleet::is_ready;
use e2e::{Client, Delivery, Heard, Random, Request, ids};
use serde_json::{Value, json};

use crate::book::Book;
use crate::counters::count;
use crate::order::{Order, QUEUES};

/// Few, so that customers meet.
pub(crate) const KEYS: usize = 12;
const STRATEGIES: [&str; 3] = ["reject", "ignore", "replace"];
const VISIBILITY_MS: u64 = 2000;

/// One client with a memory of its own.
#[derive(Debug)]
pub(crate) struct Customer {
    number: usize,
    random: Random,
}

impl Customer {
    pub(crate) fn new(number: usize, seed: u64) -> Customer {
        Customer { number, random: Random::new(seed) }
    }

    /// Works until it is enough or the server is gone. While its database is away, it waits for it.
    pub(crate) fn work(&mut self, address: SocketAddr, book: &Book, is_enough: &AtomicBool) {
        let mut client = Client::new(address);
        while !is_enough.load(Ordering::Relaxed) {
            match self.act(&mut client, book) {
                Heard::Answer(_) => {}
                Heard::NotSent(error) | Heard::Broken(error) => {
                    let is_there = is_ready(&mut Client::new(address)).is_some();
                    assert!(!is_there, "a server that is there broke a connection: {error}");
                    return;
                }
                Heard::NothingDone | Heard::Unknown => {
                    let is_over =
                        || is_enough.load(Ordering::Relaxed) || is_ready(&mut client) != Some(false);
                    clock::until("the server is ready again", SOON, is_over);
                }
            }
        }
    }

    fn act(&mut self, client: &mut Client, book: &Book) -> Heard {
        let order = |random: &mut Random, number: usize, unique| Order {
            id: ids::fresh(random),
            unique,
            repeat_key: format!("repeat-{number}-{:016x}", random.bits()),
        };
        match self.random.below(100) {
            0..30 => book.place(client, order(&mut self.random, self.number, None)),
            30..55 => {
                let key = format!("key-{}", self.random.below(KEYS));
                let strategy = *self.random.pick(&STRATEGIES);
                book.place(client, order(&mut self.random, self.number, Some((key, strategy))))
            }
            _ => self.fetch(client, book),
        }
    }

    fn fetch(&mut self, client: &mut Client, book: &Book) -> Heard {
        let since = book.moment();
        let body = json!({
            "queues": QUEUES, "count": 1 + self.random.below(4), "visibility_timeout_ms": VISIBILITY_MS,
        });
        let heard = Heard::from(client, &Request::post("/ojs/v1/workers/fetch", body.to_string()));
        let Heard::Answer(answer) = &heard else { return heard };
        count(&book.counters.answered);
        let deliveries = Delivery::all(answer.is(200));
        for delivery in &deliveries {
            book.delivered(delivery, since);
        }
        for delivery in &deliveries {
            let heard = self.finish(client, book, delivery);
            if !matches!(heard, None | Some(Heard::Answer(_))) {
                return heard.unwrap_or(Heard::Unknown);
            }
        }
        heard
    }

    /// Ends the attempt, or never lets hear of it again.
    fn finish(&mut self, client: &mut Client, book: &Book, delivery: &Delivery) -> Option<Heard> {
        let error = |retryable: bool| json!({"error": {"type": "E", "message": "x", "retryable": retryable}});
        match self.random.below(20) {
            0..13 => Some(report(client, book, delivery, "ack", json!({"result": "done"}))),
            13..16 => Some(report(client, book, delivery, "nack", error(true))),
            16 => Some(report(client, book, delivery, "nack", error(false))),
            _ => None,
        }
    }
}

fn report(client: &mut Client, book: &Book, delivery: &Delivery, verb: &str, mut body: Value) -> Heard {
    body["job_id"] = json!(delivery.id);
    body["lease"] = json!(delivery.lease);
    let end = match verb {
        "ack" => Some("completed"),
        _ => (body["error"]["retryable"] == false).then_some("discarded"),
    };
    let heard = Heard::from(client, &Request::post(&format!("/ojs/v1/workers/{verb}"), body.to_string()));
    match (&heard, end) {
        (Heard::Answer(answer), _) if answer.status == 409 => {
            answer.is_refusal(409, "lease_lost");
            count(&book.counters.lease_lost);
        }
        (Heard::Answer(answer), _) => {
            count(&book.counters.answered);
            assert_eq!(answer.is(200)["state"], end.unwrap_or("retryable"), "{}", answer.body);
            if let Some(end) = end {
                book.ended(&delivery.id, end);
            }
        }
        (_, Some(end)) if heard.is_open() => book.may_have_ended(&delivery.id, end),
        _ => {}
    }
    heard
}
