//! The load: producers of every strategy, and workers that finish some jobs and forget others.

use std::net::SocketAddr;

use e2e::{Client, Delivery, Failure, Random, Request};
use serde_json::json;

use crate::book::Book;
use crate::strategy::Target;

/// Short, so that forgotten jobs come back within the test.
const VISIBILITY_MS: u64 = 500;

/// Works until the server is gone.
pub(crate) fn work(random: &mut Random, address: SocketAddr, book: &Book) {
    let mut client = Client::new(address);
    while act(random, &mut client, book) {}
}

/// One request, or a few; says whether the server is still there.
fn act(random: &mut Random, client: &mut Client, book: &Book) -> bool {
    match random.below(10) {
        0..7 => enqueue(random, client, book),
        _ => fetch(random, client),
    }
}

fn enqueue(random: &mut Random, client: &mut Client, book: &Book) -> bool {
    let target = Target::any(random);
    let job = target.job(random.bits() >> 16);
    match client.try_send(&Request::post("/ojs/v1/jobs", job.text())) {
        Ok(answer) => book.answered(target, &answer),
        Err(Failure::NotSent(_)) => return false,
        Err(Failure::Unknown(_)) => {
            book.unanswered(target);
            return false;
        }
    }
    true
}

fn fetch(random: &mut Random, client: &mut Client) -> bool {
    let body = json!({"queues": ["default"], "count": 2, "visibility_timeout_ms": VISIBILITY_MS});
    let Ok(answer) = client.try_send(&Request::post("/ojs/v1/workers/fetch", body.to_string())) else {
        return false;
    };
    Delivery::all(answer.is(200)).iter().all(|delivery| match random.below(4) {
        0 | 1 => report(client, delivery, "ack", json!({"result": 1})),
        2 => report(client, delivery, "nack", json!({"error": "no"})),
        // Never heard of again.
        _ => true,
    })
}

fn report(client: &mut Client, delivery: &Delivery, verb: &str, mut body: serde_json::Value) -> bool {
    body["job_id"] = json!(delivery.id);
    body["lease"] = json!(delivery.lease);
    client.try_send(&Request::post(&format!("/ojs/v1/workers/{verb}"), body.to_string())).is_ok()
}
