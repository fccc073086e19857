//! What lets a successor go: the end of the job it waits for, however that ends, and nothing less.

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery, Job, Server, job};
use serde_json::json;

/// A job that queues behind a running one.
fn sync() -> Job {
    job("repo.sync")
        .unique(json!({"keys": ["type"], "on_conflict": "ignore", "while_active": "queue_latest"}))
}

/// A running job of this form, and the id of its successor.
#[track_caller]
fn queued(client: &mut Client, first: &Job, visibility_ms: u64) -> (Delivery, String) {
    client.create(first);
    let running = client.fetch_for("default", visibility_ms);
    let successor = client.create(&sync().on("next"));
    (running, successor)
}

#[track_caller]
fn waits(client: &mut Client, id: &str, running: &Delivery) {
    let job = client.job(id);
    assert_eq!(
        (&job["state"], &job["unique"]["waits_for"]),
        (&json!("pending"), &json!(running.id)),
        "{job}"
    );
}

#[track_caller]
fn is_free(client: &mut Client, id: &str) {
    let job = client.job(id);
    assert_eq!(job["state"], "available", "{job}");
    assert!(job["unique"]["waits_for"].is_null(), "{job}");
    assert_eq!(client.fetch_one("next").id, id);
}

/// Ends a running job and looks at its successor at once: it is let go in the same commit.
#[track_caller]
fn check_end(first: &Job, end: impl Fn(&mut Client, &Delivery)) {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, first, 60_000);
    waits(&mut client, &successor, &running);
    end(&mut client, &running);
    is_free(&mut client, &successor);
}

#[test]
fn an_ack_lets_it_go() {
    check_end(&sync(), |client, running| {
        client.ack(running).is(200);
    });
}

#[test]
fn a_failure_that_is_not_retried_lets_it_go() {
    check_end(&sync(), |client, running| {
        assert_eq!(client.give_up(running).is(200)["state"], "discarded");
    });
}

#[test]
fn the_failure_of_the_last_attempt_lets_it_go() {
    check_end(&sync().retried(1, 1), |client, running| {
        assert_eq!(client.nack(running).is(200)["state"], "discarded");
    });
}

#[test]
fn a_cancel_lets_it_go() {
    check_end(&sync(), |client, running| {
        client.cancel(&running.id).is(200);
    });
}

#[test]
fn a_release_of_the_key_lets_it_go() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync(), 60_000);
    let key = client.key_of(&running.id);
    client.release(&key).is(200);
    is_free(&mut client, &successor);
    client.ack(&running).is(200);
}

#[test]
fn a_job_that_takes_the_place_of_the_running_one_lets_it_go() {
    check_end(&sync(), |client, running| {
        let policy = json!({"keys": ["type"], "states": ["active"], "on_conflict": "replace"});
        let answer = client.enqueue(&job("repo.sync").unique(policy));
        assert_eq!(answer.is(201)["replaced"], json!([running.id]));
    });
}

#[test]
fn the_end_of_the_last_lease_lets_it_go() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync().retried(1, 1), 1_000);
    clock::until("the lease runs out", SOON, || client.state(&running.id) == "discarded");
    is_free(&mut client, &successor);
}

#[test]
fn an_attempt_that_ran_too_long_lets_it_go_if_it_was_the_last() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync().retried(1, 1).with("timeout_ms", 1_000), 60_000);
    clock::until("the attempt is ended", SOON, || client.state(&running.id) == "discarded");
    is_free(&mut client, &successor);
}

#[test]
fn a_failure_that_is_retried_does_not_let_it_go() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync().retried(300, 3), 60_000);
    assert_eq!(client.nack(&running).is(200)["state"], "retryable");
    waits(&mut client, &successor, &running);
    let again = clock::eventually("the retry", SOON, || client.fetch("default", 1).pop());
    assert_eq!(again.id, running.id);
    waits(&mut client, &successor, &running);
    client.ack(&again).is(200);
    is_free(&mut client, &successor);
}

#[test]
fn the_end_of_a_lease_does_not_let_it_go_while_attempts_are_left() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync(), 1_000);
    clock::until("the lease runs out", SOON, || client.state(&running.id) == "available");
    waits(&mut client, &successor, &running);
    let newest = client.enqueue(&sync().on("next").args(json!([{"version": 3}])));
    assert_eq!(newest.is(200).id(), successor, "it still stands for the newest");
    assert_eq!(client.ack(&running).is(200)["state"], "completed", "a late ack");
    is_free(&mut client, &successor);
}

#[test]
fn a_job_that_is_handed_back_does_not_let_it_go() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync(), 60_000);
    assert_eq!(client.hand_back(&running).is(200)["state"], "available");
    waits(&mut client, &successor, &running);
    client.cancel(&running.id).is(200);
    is_free(&mut client, &successor);
}

#[test]
fn a_crash_before_the_end_keeps_it_waiting_and_a_crash_after_it_keeps_it_free() {
    let mut server = Server::start();
    let (running, successor) = queued(&mut server.client(), &sync(), 60_000);
    server.crash_and_restart();
    let mut client = server.client();
    waits(&mut client, &successor, &running);
    client.ack(&running).is(200);
    server.crash_and_restart();
    is_free(&mut server.client(), &successor);
}

#[test]
fn a_lease_that_ends_while_the_server_is_down_lets_it_go_after_the_start() {
    let mut server = Server::start();
    let (running, successor) = queued(&mut server.client(), &sync().retried(1, 1), 1_000);
    server.crash_and_restart();
    let mut client = server.client();
    clock::until("the lease has run out", SOON, || client.state(&running.id) == "discarded");
    is_free(&mut client, &successor);
}

#[test]
fn an_expiry_before_the_next_attempt_lets_it_go() {
    let server = Server::start();
    let mut client = server.client();
    let first = sync().retried(60_000, 3).with("expires_at", "+PT1.5S");
    let (running, successor) = queued(&mut client, &first, 60_000);
    assert_eq!(client.nack(&running).is(200)["state"], "retryable");
    waits(&mut client, &successor, &running);
    clock::until("it expires", SOON, || client.state(&running.id) == "discarded");
    is_free(&mut client, &successor);
}

#[test]
fn whoever_listens_hears_of_it_when_it_is_let_go_and_not_before() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync(), 60_000);
    let mut heard =
        || client.get("/ojs/v1/events?queues=next&types=job.enqueued").is(200).body.contains(&successor);
    assert!(!heard());
    server.client().ack(&running).is(200);
    assert!(heard());
}

#[test]
fn a_successor_as_it_was_shown_can_be_sent_back() {
    let server = Server::start();
    let mut client = server.client();
    let (_, successor) = queued(&mut client, &sync(), 60_000);
    let mut shown = client.job(&successor);
    shown.as_object_mut().expect("a job").remove("id");
    let answer = client.post("/ojs/v1/jobs", &shown);
    assert_eq!((answer.is(200).id(), &answer["updated"]), (successor, &json!([])), "{}", answer.body);
}
