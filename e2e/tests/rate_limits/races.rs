//! Fifty workers at one key.

use std::sync::atomic::{AtomicUsize, Ordering};

use e2e::{Server, together};
use serde_json::json;

use crate::{QUEUE, create};

const WORKERS: usize = 50;
const AT_A_TIME: usize = 3;
const JOBS: usize = 200;

#[test]
fn never_do_more_run_than_may_and_all_are_done() {
    let server = Server::start();
    create(&mut server.client(), JOBS, &json!({"key": "api", "concurrency": AT_A_TIME}));
    let (running, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    together(WORKERS, |_| {
        let mut client = server.client();
        while done.load(Ordering::SeqCst) < JOBS {
            for delivery in client.fetch_with(&json!({"queues": [QUEUE], "wait_ms": 500})) {
                let now_running = running.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(now_running <= AT_A_TIME, "{now_running} run at a time");
                // Before the ack: whoever fetches after it may start.
                running.fetch_sub(1, Ordering::SeqCst);
                client.ack(&delivery).is(200);
                done.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    assert_eq!(server.client().count(QUEUE, "completed"), JOBS as u64);
}

#[test]
fn no_more_start_in_a_window_than_may() {
    const LIMIT: usize = 7;
    let server = Server::start();
    let limit = json!({"key": "api", "rate": {"limit": LIMIT, "period": "PT1H"}});
    create(&mut server.client(), 40, &limit);
    let taken = together(20, |_| {
        let mut client = server.client();
        (0..3).map(|_| client.fetch(QUEUE, 2).len()).sum::<usize>()
    });
    assert_eq!(taken.iter().sum::<usize>(), LIMIT);
}
