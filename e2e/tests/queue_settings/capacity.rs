//! A queue that is full, by its strategy.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Request, Server, job};
use serde_json::json;

use crate::{QUEUE, bound, patient, put, send, waiting};

#[test]
fn a_full_queue_refuses_one_more_and_says_how_full_it_is() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 5, "reject");
    for depth in 1..=3 {
        let answer = send(&mut client);
        assert_eq!(answer.is(201).header("x-ojs-queue-depth"), None, "no pressure at {depth} of 5");
    }
    for (depth, pressure) in [("4", "0.80"), ("5", "1.00")] {
        let answer = send(&mut client);
        answer.is(201);
        let headers = ["x-ojs-queue-depth", "x-ojs-queue-bound", "x-ojs-queue-pressure"];
        assert_eq!(headers.map(|name| answer.header(name)), [Some(depth), Some("5"), Some(pressure)]);
    }
    let refused = send(&mut client);
    refused.is_refusal(429, "QUEUE_FULL");
    assert_eq!(refused["error"]["retryable"], true);
    assert_eq!(refused["error"]["details"]["depth"], 5, "{}", refused.body);
    assert_eq!(refused["error"]["details"]["bound"], 5, "{}", refused.body);
    assert!(refused.header("retry-after").is_some_and(|text| text.parse::<u64>().is_ok()), "{refused:?}");
    assert_eq!(waiting(&mut client), 5);
    client.enqueue(&job("work").on("other")).is(201);
    client.fetch_one(QUEUE);
    send(&mut client).is(201);
    send(&mut client).is_refusal(429, "QUEUE_FULL");
}

#[test]
fn a_batch_that_does_not_fit_is_refused_as_a_whole() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 3, "reject");
    let jobs = vec![job("work").on(QUEUE).json(); 4];
    client.post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is_error(429);
    assert_eq!(waiting(&mut client), 0);
    client.post("/ojs/v1/jobs/batch", &json!({"jobs": jobs[..3]})).is(201);
    assert_eq!(waiting(&mut client), 3);
}

#[test]
fn the_oldest_is_given_up_for_one_more() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 2, "drop_oldest");
    let urgent = client.create(&job("work").on(QUEUE).with("priority", 5));
    let ids: Vec<String> = (0..3).map(|_| client.create(&job("work").on(QUEUE))).collect();
    assert_eq!(client.state(&urgent), "available", "the lowest priority goes first");
    assert_eq!(client.state(&ids[0]), "discarded");
    assert_eq!(client.state(&ids[1]), "discarded");
    assert_eq!(client.state(&ids[2]), "available");
    assert_eq!(waiting(&mut client), 2);
}

#[test]
fn a_client_waits_for_room_as_long_as_it_says() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 1, "block");
    send(&mut client).is(201);
    send(&mut client).is_refusal(429, "QUEUE_FULL");
    let started = clock::now();
    client.send(&patient("1")).is_refusal(429, "QUEUE_FULL");
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| server.client().send(&patient("30")));
        clock::throughout("it waits", Duration::from_millis(300), || !waits.is_finished());
        client.fetch_one(QUEUE);
        clock::until("there was room", SOON, || waits.is_finished());
        waits.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).is(201);
    });
    assert_eq!(waiting(&mut client), 1);
    for wrong in ["soon", "-1", "61", ""] {
        let answer = client.send(&patient(wrong));
        answer.is_error(400);
        assert!(answer.message().contains("OJS-Block-Timeout"), "{wrong}: {}", answer.message());
    }
}

#[test]
fn a_client_that_may_not_wait_is_refused_at_once() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 1, "reject");
    send(&mut client).is(201);
    let started = clock::now();
    client.send(&patient("30")).is_refusal(429, "QUEUE_FULL");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_refusal_for_want_of_room_is_not_the_answer_for_ever() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 1, "block");
    send(&mut client).is(201);
    let once = |request: Request| request.header("Idempotency-Key", "order-1");
    client.send(&once(patient("0"))).is_refusal(429, "QUEUE_FULL");
    client.send(&once(patient("1"))).is_refusal(429, "QUEUE_FULL");
    client.fetch_one(QUEUE);
    let first = client.send(&once(patient("1")));
    let again = client.send(&once(patient("1")));
    assert_eq!(first.is(201).body, again.is(201).body);
    assert_eq!(waiting(&mut client), 1);
}

#[test]
fn a_bound_that_is_taken_away_holds_no_more() {
    let server = Server::start();
    let mut client = server.client();
    bound(&mut client, 1, "reject");
    send(&mut client).is(201);
    send(&mut client).is_refusal(429, "QUEUE_FULL");
    put(&mut client, QUEUE, &json!({"backpressure": null})).is(200);
    send(&mut client).is(201);
    // Fewer than wait already: none is lost, and none is taken.
    bound(&mut client, 1, "reject");
    assert_eq!(waiting(&mut client), 2);
    send(&mut client).is_refusal(429, "QUEUE_FULL");
}
