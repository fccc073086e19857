//! The order of delivery: queues as asked, then priority, then age.

use e2e::{Server, job};
use serde_json::json;

#[test]
fn higher_priority_goes_first_and_equals_go_by_age() {
    let server = Server::start();
    let mut client = server.client();
    let mut created = Vec::new();
    for priority in [0, -100, 10, 100, 10, 0, -1] {
        created.push((priority, client.create(&job("a.b").with("priority", priority))));
    }
    // A stable sort keeps the age of equals.
    created.sort_by_key(|(priority, _)| -priority);
    let expected: Vec<String> = created.into_iter().map(|(_, id)| id).collect();
    let fetched: Vec<String> = expected.iter().map(|_| client.fetch_one("default").id).collect();
    assert_eq!(fetched, expected);
}

#[test]
fn queues_are_served_in_the_order_of_the_request() {
    let server = Server::start();
    let mut client = server.client();
    let low = client.create(&job("a.b").on("low").with("priority", 100));
    let high = client.create(&job("a.b").on("high"));
    let mid = client.create(&job("a.b").on("mid"));
    let fetched = client.fetch_with(&json!({"queues": ["high", "mid", "low"], "count": 3}));
    let ids: Vec<String> = fetched.into_iter().map(|delivery| delivery.id).collect();
    assert_eq!(ids, [high, mid, low]);
}

#[test]
fn a_retried_job_goes_behind_those_that_became_available_before_it() {
    let server = Server::start();
    let mut client = server.client();
    let retried = client.create(&job("a.b").retried(50, 5));
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    let waiting = client.create(&job("a.b"));
    e2e::clock::until("the retry is due", e2e::clock::SOON, || client.state(&retried) == "available");
    assert_eq!(client.fetch_one("default").id, waiting);
    assert_eq!(client.fetch_one("default").id, retried);
}

#[test]
fn the_order_survives_a_restart() {
    let mut server = Server::start();
    let mut client = server.client();
    let slow: Vec<String> = (0..10).map(|_| client.create(&job("a.b"))).collect();
    let urgent = client.create(&job("a.b").with("priority", 5));
    server.crash_and_restart();
    let mut client = server.client();
    let fetched: Vec<String> = (0..11).map(|_| client.fetch_one("default").id).collect();
    assert_eq!(fetched, [vec![urgent], slow].concat());
}

#[test]
fn a_paused_queue_delivers_nothing_and_accepts_everything() {
    let server = Server::start();
    let mut client = server.client();
    client.post("/ojs/v1/queues/default/pause", &json!({})).is(200);
    let id = client.create(&job("a.b"));
    assert!(client.fetch("default", 1).is_empty());
    client.post("/ojs/v1/queues/default/resume", &json!({})).is(200);
    assert_eq!(client.fetch_one("default").id, id);
}
