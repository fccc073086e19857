//! Fetchers of three servers on the same queue: each job goes to one of them, once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use e2e::fleet::{Fleet, SERVERS, effort};
use e2e::{EVERY_STATE, Job, clock, job, together};
use serde_json::json;

const JOBS: usize = 10_000;
const BATCH: usize = 500;
const FETCHERS: usize = 16 * SERVERS;
/// A job that nobody gets within this time after the last is lost.
const STALLED: Duration = Duration::from_secs(20);

#[test]
fn each_job_goes_to_one_fetcher_of_one_server_and_every_job_does() {
    let wanted = effort("HAPAX_FLEET_JOBS", JOBS);
    let fleet = Fleet::start();
    let delivered = AtomicUsize::new(0);
    let deliveries = together(FETCHERS + SERVERS, |number| match number.checked_sub(FETCHERS) {
        Some(producer) => {
            produce(&fleet, producer, wanted);
            Vec::new()
        }
        None => fetch(&fleet, number, wanted, &delivered),
    });
    let deliveries = deliveries.concat();
    assert_eq!(deliveries.len(), wanted, "as many deliveries as jobs");
    let by_id: BTreeMap<String, u64> = deliveries.into_iter().collect();
    assert_eq!(by_id.len(), wanted, "a job was delivered twice");
    assert!(by_id.values().all(|fence| *fence == 1), "a first delivery has the first fence");
    for number in 0..SERVERS {
        let mut client = fleet.client(number);
        for state in EVERY_STATE {
            let expected = if state == "completed" { wanted as u64 } else { 0 };
            assert_eq!(client.count("default", state), expected, "{state} jobs at server {number}");
        }
    }
    assert_eq!(fleet.deadlocks(), 0);
    eprintln!("{wanted} jobs, each delivered and acknowledged once");
}

/// This server's part of the jobs, while others fetch already.
fn produce(fleet: &Fleet, producer: usize, wanted: usize) {
    let mut client = fleet.client(producer);
    let own = (producer..wanted).step_by(SERVERS).count();
    let jobs: Vec<Job> = (0..own).map(|number| job("work").args(json!([producer, number]))).collect();
    for batch in jobs.chunks(BATCH) {
        client.batch(batch).is(201);
    }
}

/// Fetches and acknowledges until all jobs were delivered to somebody.
fn fetch(fleet: &Fleet, number: usize, wanted: usize, delivered: &AtomicUsize) -> Vec<(String, u64)> {
    let mut client = fleet.client(number);
    let mut found = Vec::new();
    let mut last = clock::now();
    while delivered.load(Ordering::SeqCst) < wanted {
        assert!(last.elapsed() < STALLED, "{} of {wanted}", delivered.load(Ordering::SeqCst));
        let body = json!({"queues": ["default"], "count": 1 + number % 8, "wait_ms": 200});
        let before = delivered.load(Ordering::SeqCst);
        for delivery in client.fetch_with(&body) {
            client.ack(&delivery).is(200);
            delivered.fetch_add(1, Ordering::SeqCst);
            found.push((delivery.id, delivery.fence));
        }
        if delivered.load(Ordering::SeqCst) > before {
            last = clock::now();
        }
    }
    found
}
