//! What one client sees of a line.

use e2e::clock::{self, SOON};
use e2e::{Server, job};
use serde_json::json;

use crate::ordered;

#[test]
fn a_waiting_job_shows_its_key_and_for_whom_it_waits() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.create(&job("step").with("options", json!({"ordering_key": "a"})));
    let second = client.enqueue(&ordered("a"));
    assert_eq!(second.is(201)["job"]["state"], "pending");
    assert_eq!(second["job"]["ordering_key"], "a");
    assert_eq!(second["job"]["waits_for"], first.as_str());
    assert_eq!(client.job(&first)["waits_for"], json!(null));
    let running = client.fetch_one("default");
    assert_eq!((running.id.as_str(), client.fetch("default", 9).len()), (first.as_str(), 0));
    client.ack(&running).is(200);
    let next = client.fetch_one("default");
    assert_eq!(next.id, second.id());
    assert_eq!(next.job["ordering_key"], "a");
}

#[test]
fn a_fetch_that_waits_is_woken_by_the_end_of_the_one_before() {
    let server = Server::start();
    let mut client = server.client();
    let ids = [client.create(&ordered("a")), client.create(&ordered("a"))];
    let running = client.fetch_one("default");
    let mut other = server.client();
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(move || other.fetch_with(&json!({"queues": ["default"], "wait_ms": 20_000})));
        client.ack(&running).is(200);
        let fetched = waiting.join().expect("the other fetches");
        assert_eq!(fetched.iter().map(|delivery| &delivery.id).collect::<Vec<_>>(), [&ids[1]]);
    });
}

#[test]
fn a_retry_and_a_lease_that_ran_out_hold_the_others_back() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.create(&ordered("a").retried(20, 5));
    client.create(&ordered("a"));
    let running = client.fetch_one("default");
    client.nack(&running).is(200);
    let again = clock::eventually("the retry", SOON, || {
        client.fetch_with(&json!({"queues": ["default"], "visibility_timeout_ms": 50})).pop()
    });
    assert_eq!(again.id, first);
    let again = clock::eventually("the rescue", SOON, || client.fetch("default", 9).pop());
    assert_eq!(again.id, first, "nobody came between");
}

#[test]
fn a_line_goes_on_where_it_was_after_a_crash() {
    let mut server = Server::start();
    let ids: Vec<String> = (0..4).map(|_| server.client().create(&ordered("a"))).collect();
    let running = server.client().fetch_one("default");
    server.client().cancel(&ids[1]).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.fetch("default", 9).len(), 0);
    client.ack(&running).is(200);
    for id in &ids[2..] {
        let next = client.fetch_one("default");
        assert_eq!((&next.id, client.fetch("default", 9).len()), (id, 0));
        client.ack(&next).is(200);
    }
}

#[test]
fn a_recurring_job_keeps_its_line() {
    let server = Server::start();
    let mut client = server.client();
    let cron = json!({"name": "line", "cron": "0 0 1 1 *", "type": "step", "args": [], "ordering_key": "a"});
    client.post("/ojs/v1/cron", &cron).is(201);
    let first = client.create(&ordered("a"));
    let ran = client.post("/ojs/v1/cron/line/run", &json!({}));
    assert_eq!(ran.is(200)["triggered"], true, "{}", ran.body);
    assert_eq!(client.job(ran.text("/job_id"))["waits_for"], first.as_str());
}
