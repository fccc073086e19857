//! Workers that wait for room.

use std::thread;
use std::time::Duration;

use e2e::{Server, clock};
use serde_json::json;

use crate::{QUEUE, create};

/// Much less than the wait of the fetch.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn whoever_waits_is_called_when_a_job_ends() {
    let server = Server::start();
    let mut client = server.client();
    let ids = create(&mut client, 2, &json!({"key": "api", "concurrency": 1}));
    let first = client.fetch_one(QUEUE);
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let body = json!({"queues": [QUEUE], "wait_ms": 20_000});
            let start = clock::now();
            (server.client().fetch_with(&body), start.elapsed())
        });
        clock::throughout("the worker waits", Duration::from_millis(300), || !waits.is_finished());
        client.ack(&first).is(200);
        let (jobs, waited) = waits.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert_eq!(jobs.iter().map(|job| &job.id).collect::<Vec<_>>(), [&ids[1]]);
        assert!(waited < SOON, "{waited:?}");
    });
}

#[test]
fn whoever_waits_is_called_when_the_window_has_passed() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, 3, &json!({"max_per_second": 1}));
    assert_eq!(client.fetch(QUEUE, 3).len(), 1);
    assert_eq!(client.fetch(QUEUE, 3).len(), 0);
    let start = clock::now();
    let body = json!({"queues": [QUEUE], "wait_ms": 20_000});
    assert_eq!(client.fetch_with(&body).len(), 1);
    assert!((Duration::from_millis(500)..SOON).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[test]
fn others_go_past_those_without_room() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, 3, &json!({"key": "api", "concurrency": 1}));
    let free = client.create(&e2e::job("free.work").on(QUEUE));
    let taken = client.fetch(QUEUE, 9);
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[1].id, free);
}

#[test]
fn jobs_that_do_not_wait_come_back_or_are_dropped() {
    let server = Server::start();
    let mut client = server.client();
    let drop = create(&mut client, 2, &json!({"key": "a", "concurrency": 1, "on_limit": "drop"}));
    let limit = json!({"key": "b", "rate": {"limit": 1, "period": "PT1H"}, "on_limit": "reschedule"});
    let later = create(&mut client, 2, &limit);
    assert_eq!(client.fetch(QUEUE, 9).len(), 2);
    let dropped = client.job(&drop[1]);
    assert_eq!((&dropped["state"], &dropped["error"]["code"]), (&json!("discarded"), &json!("rate_limited")));
    assert_eq!(client.state(&later[1]), "scheduled");
}
