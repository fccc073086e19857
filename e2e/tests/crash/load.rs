//! The load: customers that enqueue, fetch, finish, fail, cancel and replace, until the server is gone.

use std::net::SocketAddr;

use e2e::{Client, Delivery, FAR_FUTURE, Random, Request, ids};
use serde_json::{Value, json};

use crate::book::Book;
use crate::counters::count;
use crate::order::{Order, QUEUES, Wish};

/// Few, so that customers meet.
pub(crate) const KEYS: usize = 12;
const STRATEGIES: [&str; 4] = ["reject", "ignore", "replace", "replace_except_schedule"];
const VISIBILITY_MS: u64 = 1000;
/// Ids that a customer remembers, to cancel one of them some time.
const REMEMBERED: usize = 40;

/// One client with a memory of its own.
#[derive(Debug)]
pub(crate) struct Customer {
    number: usize,
    random: Random,
    mine: Vec<String>,
    pub(crate) letter: Letter,
}

/// A scheduled job that only this customer rewrites: the version that was acknowledged last, the version
/// that was sent last, and the job.
#[derive(Debug, Default)]
pub(crate) struct Letter {
    pub(crate) acknowledged: u64,
    pub(crate) sent: u64,
    pub(crate) id: Option<String>,
}

impl Customer {
    pub(crate) fn new(number: usize, seed: u64) -> Customer {
        Customer { number, random: Random::new(seed), mine: Vec::new(), letter: Letter::default() }
    }

    /// Works until the server does not answer.
    pub(crate) fn work(&mut self, address: SocketAddr, book: &Book) {
        let mut client = Client::new(address);
        while self.act(&mut client, book) {}
    }

    /// One thing that customers do; says whether the server is still there.
    fn act(&mut self, client: &mut Client, book: &Book) -> bool {
        match self.random.below(100) {
            0..22 => {
                let id = self.fresh_id();
                self.order(client, book, Wish::Plain(id))
            }
            22..30 => {
                let marker = format!("marker-{}-{:016x}", self.number, self.random.bits());
                self.order(client, book, Wish::Marked(marker))
            }
            30..36 => {
                let ids = (0..2 + self.random.below(4)).map(|_| self.fresh_id()).collect();
                self.order(client, book, Wish::Batch(ids))
            }
            36..54 => {
                let wish = Wish::Unique {
                    id: self.fresh_id(),
                    key: format!("key-{}", self.random.below(KEYS)),
                    strategy: STRATEGIES[self.random.below(STRATEGIES.len())],
                };
                self.order(client, book, wish)
            }
            54..92 => self.fetch(client, book),
            92..97 => self.cancel(client, book),
            _ => self.rewrite(client, book),
        }
    }

    fn fresh_id(&mut self) -> String {
        let id = ids::fresh(&mut self.random);
        if self.mine.len() == REMEMBERED {
            self.mine.remove(0);
        }
        self.mine.push(id.clone());
        id
    }

    /// Orders that the server could not recognise by an id of ours always have a key for repetition, and so
    /// have those whose effect on other jobs must be known in the end.
    fn order(&mut self, client: &mut Client, book: &Book, wish: Wish) -> bool {
        let always = matches!(wish, Wish::Marked(_) | Wish::Unique { .. });
        let repeatable = always || self.random.below(2) == 0;
        let repeat_key = repeatable.then(|| format!("repeat-{}-{:016x}", self.number, self.random.bits()));
        book.place(client, Order { wish, repeat_key })
    }

    fn fetch(&mut self, client: &mut Client, book: &Book) -> bool {
        let since = book.moment();
        let body = json!({
            "queues": QUEUES, "count": 1 + self.random.below(4), "visibility_timeout_ms": VISIBILITY_MS,
            "worker_id": format!("w-{}", self.number),
        });
        let Some(answer) = book.ask(client, &Request::post("/ojs/v1/workers/fetch", body.to_string())) else {
            return false;
        };
        let deliveries = Delivery::all(answer.is(200));
        for delivery in &deliveries {
            book.delivered(delivery, since);
        }
        deliveries.iter().all(|delivery| self.finish(client, book, delivery))
    }

    fn finish(&mut self, client: &mut Client, book: &Book, delivery: &Delivery) -> bool {
        match self.random.below(20) {
            0..12 => report(client, book, delivery, "ack", &json!({"result": "done"})),
            12..15 => {
                report(client, book, delivery, "nack", &json!({"error": {"type": "Flaky", "message": "x"}}))
            }
            15 => {
                let error = json!({"error": {"type": "Fatal", "message": "x", "retryable": false}});
                report(client, book, delivery, "nack", &error)
            }
            16 => self.beat(client, book, delivery),
            // The others are never heard of again.
            _ => true,
        }
    }

    fn beat(&mut self, client: &mut Client, book: &Book, delivery: &Delivery) -> bool {
        let job = json!({"job_id": delivery.id, "lease": delivery.lease});
        let body = json!({"worker_id": format!("w-{}", self.number), "active_jobs": [job]});
        let Some(answer) = book.ask(client, &Request::post("/ojs/v1/workers/heartbeat", body.to_string()))
        else {
            return false;
        };
        if answer.is(200)["jobs_extended"] == json!([delivery.id]) {
            count(&book.counters.extended);
        }
        true
    }

    fn cancel(&mut self, client: &mut Client, book: &Book) -> bool {
        if self.mine.is_empty() {
            return true;
        }
        let id = self.random.pick(&self.mine).clone();
        let Some(answer) = book.ask(client, &Request::new("DELETE", &format!("/ojs/v1/jobs/{id}"))) else {
            book.may_have_ended(&id, "cancelled");
            return false;
        };
        match answer.status {
            200 => {
                count(&book.counters.cancelled);
                book.ended(&id, "cancelled");
            }
            404 => book.is_absent(&id),
            _ => assert_eq!(answer.is_refusal(409, "conflict").status, 409),
        }
        true
    }

    /// A new version of the letter: the schedule and the id stay.
    fn rewrite(&mut self, client: &mut Client, book: &Book) -> bool {
        let version = self.letter.sent + 1;
        let policy =
            json!({"key": format!("letter-{}", self.number), "on_conflict": "replace_except_schedule"});
        let body = json!({
            "type": "crash.letter", "queue": "letters", "scheduled_at": FAR_FUTURE,
            "args": [{"version": version}], "unique": policy,
        });
        self.letter.sent = version;
        let Some(answer) = book.ask(client, &Request::post("/ojs/v1/jobs", body.to_string())) else {
            return false;
        };
        if answer.status == 200 {
            assert_eq!(answer["outcome"], "updated");
            count(&book.counters.updated);
        } else {
            answer.is(201);
        }
        let id = self.letter.id.get_or_insert_with(|| answer.id());
        assert_eq!(*id, answer.id(), "the letter became two");
        self.letter.acknowledged = version;
        true
    }
}

/// Ends an attempt, one way or the other; says whether the server is still there.
fn report(client: &mut Client, book: &Book, delivery: &Delivery, verb: &str, body: &Value) -> bool {
    let mut body = body.clone();
    body["job_id"] = json!(delivery.id);
    body["lease"] = json!(delivery.lease);
    let end = match verb {
        "ack" => Some("completed"),
        _ => (body["error"]["retryable"] == false).then_some("discarded"),
    };
    let request = Request::post(&format!("/ojs/v1/workers/{verb}"), body.to_string());
    let Some(answer) = book.ask(client, &request) else {
        if let Some(end) = end {
            book.may_have_ended(&delivery.id, end);
        }
        return false;
    };
    let counters = &book.counters;
    if answer.status == 409 {
        answer.is_refusal(409, "lease_lost");
        count(&counters.lease_lost);
        return true;
    }
    assert_eq!(answer.is(200)["state"], end.unwrap_or("retryable"), "{}", answer.body);
    count(match end {
        Some("completed") => &counters.acked,
        Some(_) => &counters.discarded,
        None => &counters.nacked,
    });
    if let Some(end) = end {
        book.ended(&delivery.id, end);
    }
    true
}
