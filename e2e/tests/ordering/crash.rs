//! Fifty workers over twenty lines: attempts fail, leases run out, jobs are called off, and the server is killed again and
//! again. A worker that got a job looks at the one before it, which must have ended: so no two of a line are ever active,
//! and they start in the order in which they were accepted.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery, Random, Request, Server, together};
use serde_json::{Value, json};

use crate::ordered;

const WORKERS: usize = 50;
const LINES: usize = 20;
const JOBS_PER_LINE: usize = 16;
const CRASHES: usize = 5;
/// So many deliveries come between two crashes.
const DELIVERIES: usize = 60;
/// Short enough that a job which a worker drops comes back soon.
const VISIBILITY_MS: u64 = 300;

/// The jobs of each line, in the order in which they were accepted.
type Lines = Vec<Vec<String>>;

#[derive(Default)]
struct Tally {
    deliveries: AtomicUsize,
    /// How often the job before was looked at.
    looks: AtomicUsize,
    again: AtomicUsize,
    enough: AtomicBool,
}

#[test]
fn lines_stay_in_order_whatever_happens() {
    let mut random = Random::seeded();
    let mut server = Server::start();
    let lines = fill(&mut server.client());
    let tally = Tally::default();
    for crash in 0..=CRASHES {
        let target = tally.deliveries.load(Ordering::Relaxed) + DELIVERIES;
        tally.enough.store(false, Ordering::Relaxed);
        let seed = random.bits();
        let address = server.address();
        std::thread::scope(|scope| {
            let run = || together(WORKERS, |number| work(address, &lines, &tally, seed ^ number as u64));
            let workers = scope.spawn(run);
            let is_over = || workers.is_finished() || is_done(&mut server.client(), &lines);
            if crash < CRASHES {
                let come = || tally.deliveries.load(Ordering::Relaxed) >= target;
                clock::until("deliveries", SOON, || come() || workers.is_finished());
                server.kill();
            } else {
                clock::until("everything has ended", 6 * SOON, is_over);
            }
            tally.enough.store(true, Ordering::Relaxed);
            workers.join().expect("no worker saw anything wrong");
        });
        if crash < CRASHES {
            server.start_again();
        }
    }
    check(&mut server.client(), &lines);
    let again = tally.again.load(Ordering::Relaxed);
    assert!(again > 0, "some were delivered again");
    assert!(tally.looks.load(Ordering::Relaxed) > LINES * JOBS_PER_LINE / 2);
}

/// In batches that go through all lines, so that the lines grow side by side.
fn fill(client: &mut Client) -> Lines {
    let mut lines = vec![Vec::new(); LINES];
    for number in 0..JOBS_PER_LINE {
        let job =
            |line: usize| ordered(&format!("line {line}")).args(json!([line, number])).retried(10, 4).json();
        let batch: Vec<Value> = (0..LINES).map(job).collect();
        let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": batch}));
        for (line, job) in lines.iter_mut().zip(answer.is(201).list("/jobs")) {
            line.push(job["id"].as_str().unwrap_or_default().to_owned());
        }
    }
    lines
}

/// Works until it is enough, or until the server is gone.
fn work(address: SocketAddr, lines: &Lines, tally: &Tally, seed: u64) {
    let (mut client, mut random) = (Client::new(address), Random::new(seed));
    while !tally.enough.load(Ordering::Relaxed) {
        let fetch = json!({"queues": ["default"], "visibility_timeout_ms": VISIBILITY_MS, "wait_ms": 100});
        let Some(answer) = send(&mut client, "/ojs/v1/workers/fetch", &fetch) else { return };
        for delivery in Delivery::all(&answer) {
            tally.deliveries.fetch_add(1, Ordering::Relaxed);
            tally.again.fetch_add(usize::from(delivery.fence > 1), Ordering::Relaxed);
            if look_before(&mut client, &delivery, lines, tally).is_none()
                || report(&mut client, &delivery, lines, &mut random).is_none()
            {
                return;
            }
        }
    }
}

/// The job before the one that was delivered must have ended.
fn look_before(client: &mut Client, delivery: &Delivery, lines: &Lines, tally: &Tally) -> Option<()> {
    let (line, number) = place(delivery);
    let Some(before) = number.checked_sub(1).map(|number| &lines[line][number]) else { return Some(()) };
    let answer = client.try_send(&Request::new("GET", &format!("/ojs/v1/jobs/{before}"))).ok()?;
    let state = answer.is(200)["job"]["state"].as_str().unwrap_or_default();
    assert!(
        matches!(state, "completed" | "discarded" | "cancelled"),
        "{} of line {line} was delivered while the one before it was {state}",
        delivery.id
    );
    tally.looks.fetch_add(1, Ordering::Relaxed);
    Some(())
}

fn report(client: &mut Client, delivery: &Delivery, lines: &Lines, random: &mut Random) -> Option<()> {
    let mut body = json!({"job_id": delivery.id, "lease": delivery.lease});
    match random.below(10) {
        0 | 1 => {
            body["error"] = json!({"type": "TestError", "message": "it failed"});
            send(client, "/ojs/v1/workers/nack", &body)?;
        }
        2 => {
            body["error"] = json!({"type": "TestError", "message": "for good", "retryable": false});
            send(client, "/ojs/v1/workers/nack", &body)?;
        }
        // Its lease runs out.
        3 => {}
        4 => {
            // One behind it leaves the line before its turn, now and then.
            let (line, number) = place(delivery);
            if let Some(later) = lines[line].get(number + 2) {
                client.try_send(&Request::new("DELETE", &format!("/ojs/v1/jobs/{later}"))).ok()?;
            }
            send(client, "/ojs/v1/workers/ack", &body)?;
        }
        _ => drop(send(client, "/ojs/v1/workers/ack", &body)?),
    }
    Some(())
}

fn place(delivery: &Delivery) -> (usize, usize) {
    let number = |at: usize| {
        let number = delivery.job["args"][at].as_u64().and_then(|number| usize::try_from(number).ok());
        number.unwrap_or_else(|| panic!("not a job of this test: {}", delivery.job))
    };
    (number(0), number(1))
}

/// Nothing if the server is gone.
fn send(client: &mut Client, path: &str, body: &Value) -> Option<e2e::Answer> {
    client.try_send(&Request::post(path, body.to_string())).ok()
}

fn is_done(client: &mut Client, lines: &Lines) -> bool {
    let ended: u64 =
        ["completed", "discarded", "cancelled"].map(|state| client.count("default", state)).iter().sum();
    ended == lines.iter().map(Vec::len).sum::<usize>() as u64
}

/// Everybody has ended, and whoever was not called off was delivered. (Not by their times: each request is decided for the
/// moment at which it came.)
fn check(client: &mut Client, lines: &Lines) {
    for id in lines.iter().flatten() {
        let job = client.job(id);
        let state = job["state"].as_str().unwrap_or_default();
        assert!(matches!(state, "completed" | "discarded" | "cancelled"), "{job}");
        assert!(state == "cancelled" || job["started_at"].is_string(), "{job}");
    }
}
