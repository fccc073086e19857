//! The load: workers that start workflows, carry their steps out, forget some and call some off.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use e2e::clock::{self, SOON};
use e2e::fleet::is_ready;
use e2e::{Client, Delivery, Heard, Random, Request};
use serde_json::{Value, json};

use super::book::{Book, count};
use super::case::{Case, QUEUE};
use super::record::CalledOff;

/// Short, so that forgotten steps come back within the test.
const VISIBILITY_MS: u64 = 1500;
const WAIT_MS: u64 = 20;

/// One client with a memory of its own.
#[derive(Debug)]
pub(crate) struct Worker {
    number: usize,
    random: Random,
    /// The workflow that it started last.
    last: Option<(String, String)>,
}

impl Worker {
    pub(crate) fn new(number: usize, seed: u64) -> Worker {
        Worker { number, random: Random::new(seed), last: None }
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
        match self.random.below(100) {
            0..12 => self.start(client, book),
            12..14 => match self.last.take() {
                Some((name, id)) => call_off(client, book, &name, &id),
                None => self.start(client, book),
            },
            _ => self.fetch(client, book),
        }
    }

    fn start(&mut self, client: &mut Client, book: &Book) -> Heard {
        let name = format!("workflow-{}-{:016x}", self.number, self.random.bits());
        let case = Case::any(name, &mut self.random);
        book.intend(&case);
        let heard = Heard::from(client, &request(&case));
        match &heard {
            Heard::Answer(answer) => {
                count(&book.counters.answered);
                book.started(&case, answer);
                self.last = Some((case.name, answer.text("/workflow/id").to_owned()));
            }
            _ if heard.is_open() => count(&book.counters.starts_unanswered),
            _ => {}
        }
        heard
    }

    fn fetch(&mut self, client: &mut Client, book: &Book) -> Heard {
        let count_max = 1 + self.random.below(3);
        let (heard, steps) = fetch(client, book, count_max);
        for (delivery, case, step) in &steps {
            let heard = match self.random.below(20) {
                // Never heard of again.
                0 | 1 => continue,
                2 | 3 => {
                    let error = json!({"error": {"type": "E", "message": "once more"}});
                    report(client, book, delivery, "nack", error)
                }
                _ => finish(client, book, delivery, case, *step),
            };
            if !matches!(heard, Heard::Answer(_)) {
                return heard;
            }
        }
        heard
    }
}

/// Asks for a workflow, as often as one likes.
pub(crate) fn request(case: &Case) -> Request {
    Request::post("/ojs/v1/workflows", case.body().to_string()).header("Idempotency-Key", &case.name)
}

/// Fetches steps, and writes down which they are.
pub(crate) fn fetch(client: &mut Client, book: &Book, max: usize) -> (Heard, Vec<(Delivery, Case, usize)>) {
    let since = book.moment();
    let body = json!({
        "queues": [QUEUE], "count": max, "wait_ms": WAIT_MS, "visibility_timeout_ms": VISIBILITY_MS,
    });
    let heard = Heard::from(client, &Request::post("/ojs/v1/workers/fetch", body.to_string()));
    let Heard::Answer(answer) = &heard else { return (heard, Vec::new()) };
    count(&book.counters.answered);
    let noted = |delivery: Delivery| {
        let (case, step) = book.delivered(&delivery, since);
        (delivery, case, step)
    };
    let steps = Delivery::all(answer.is(200)).into_iter().map(noted).collect();
    (heard, steps)
}

/// Ends a step as it has to end.
pub(crate) fn finish(
    client: &mut Client,
    book: &Book,
    delivery: &Delivery,
    case: &Case,
    step: usize,
) -> Heard {
    book.reports(&case.name, step);
    let heard = if case.ill == Some(step) {
        let error = json!({"error": {"type": "E", "message": "it failed for good", "retryable": false}});
        report(client, book, delivery, "nack", error)
    } else {
        report(client, book, delivery, "ack", json!({"result": case.result(step)}))
    };
    match &heard {
        Heard::Answer(answer) if answer.status == 200 => book.ended(&case.name, step),
        _ if heard.is_open() => book.may_have_ended(&case.name, step),
        _ => {}
    }
    heard
}

fn report(client: &mut Client, book: &Book, delivery: &Delivery, verb: &str, mut body: Value) -> Heard {
    body["job_id"] = json!(delivery.id);
    body["lease"] = json!(delivery.lease);
    let heard = Heard::from(client, &Request::post(&format!("/ojs/v1/workers/{verb}"), body.to_string()));
    if let Heard::Answer(answer) = &heard {
        count(&book.counters.answered);
        if answer.status == 409 {
            answer.is_refusal(409, "lease_lost");
            count(&book.counters.lease_lost);
        } else {
            answer.is(200);
        }
    }
    heard
}

fn call_off(client: &mut Client, book: &Book, name: &str, id: &str) -> Heard {
    book.called_off(name, CalledOff::Maybe);
    let heard = Heard::from(client, &Request::new("DELETE", &format!("/ojs/v1/workflows/{id}")));
    match &heard {
        Heard::Answer(answer) if answer.status == 409 => book.called_off(name, CalledOff::Never),
        Heard::Answer(answer) => {
            assert_eq!(answer.is(200)["workflow"]["state"], "cancelled", "{}", answer.body);
            count(&book.counters.called_off);
            book.called_off(name, CalledOff::At(book.moment()));
        }
        _ if heard.is_open() => {}
        _ => book.called_off(name, CalledOff::Never),
    }
    if matches!(heard, Heard::Answer(_)) {
        count(&book.counters.answered);
    }
    heard
}
