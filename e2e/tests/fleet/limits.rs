//! Workers of three servers at one rate limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use e2e::fleet::{Fleet, SERVERS};
use e2e::together;
use serde_json::json;

const AT_A_TIME: usize = 2;
const JOBS: usize = 150;

#[test]
fn never_do_more_run_than_may_whoever_gives_them_out() {
    let fleet = Fleet::start();
    let limit = json!({"key": "api", "concurrency": AT_A_TIME});
    for number in 0..JOBS {
        let body = json!({"type": "work", "args": [number], "rate_limit": limit});
        fleet.client(number).post("/ojs/v1/jobs", &body).is(201);
    }
    let (running, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    together(10 * SERVERS, |number| {
        let mut client = fleet.client(number);
        while done.load(Ordering::SeqCst) < JOBS {
            for delivery in client.fetch_with(&json!({"queues": ["default"], "wait_ms": 500})) {
                let now_running = running.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(now_running <= AT_A_TIME, "{now_running} run at a time");
                // Before the ack: whoever fetches after it may start.
                running.fetch_sub(1, Ordering::SeqCst);
                client.ack(&delivery).is(200);
                done.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    assert_eq!(fleet.client(0).count("default", "completed"), JOBS as u64);
    assert_eq!(fleet.deadlocks(), 0);
}
