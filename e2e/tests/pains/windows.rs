//! Class 9, windows: they slide with their holder, have no edges to slip through, and say where they begin.

use e2e::clock::{self, SOON};
use e2e::{Client, Job, Server, job};
use serde_json::{Value, json};

const PERIOD_MS: u64 = 500;
/// How late a closed window may be noticed.
const LATE_MAX_MS: u64 = 2_000;

#[track_caller]
fn is_one_period(earlier: &Value, later: &Value) {
    let apart = clock::ms_between(earlier, later);
    assert!((PERIOD_MS..PERIOD_MS + LATE_MAX_MS).contains(&apart), "{apart} ms from {earlier} to {later}");
}

/// The job that is created as soon as one can be.
#[track_caller]
fn next(client: &mut Client, job: &Job) -> Value {
    clock::eventually("the window closes", SOON, || {
        let answer = client.enqueue(job);
        (answer.status == 201).then(|| answer["job"].clone())
    })
}

fn limited(policy: Value) -> Job {
    let mut policy = policy;
    policy["period"] = json!("PT0.5S");
    policy["on_conflict"] = json!("ignore");
    job("ping").unique(policy)
}

#[test]
fn class_09_a_window_slides_from_the_creation_of_its_holder_to_the_millisecond() {
    let server = Server::start();
    let mut client = server.client();
    let ping = limited(json!({}));
    let mut last = client.enqueue(&ping).is(201)["job"].clone();
    for _ in 0..5 {
        let job = next(&mut client, &ping);
        is_one_period(&last["created_at"], &job["created_at"]);
        last = job;
    }
}

#[test]
fn class_09_a_window_from_the_end_begins_at_the_end() {
    let server = Server::start();
    let mut client = server.client();
    let ping = limited(json!({"period_from": "finished_at", "states": "all"}));
    let id = client.create(&ping);
    for end in ["completed", "cancelled", "discarded"] {
        let running = client.fetch_one("default");
        match end {
            "completed" => client.ack(&running).is(200).status,
            "cancelled" => client.cancel(&running.id).is(200).status,
            _ => client.give_up(&running).is(200).status,
        };
        let ended = client.job(&running.id)[format!("{end}_at")].clone();
        let job = next(&mut client, &ping);
        is_one_period(&ended, &job["created_at"]);
    }
    assert_eq!(client.state(&id), "completed");
}

#[test]
fn class_09_a_window_from_the_schedule_begins_at_the_start_time() {
    let server = Server::start();
    let mut client = server.client();
    let ping = limited(json!({"period_from": "scheduled_at"}));
    let first = client.enqueue(&ping.clone().with("scheduled_at", "+PT0.3S"));
    let start = first.is(201)["job"]["scheduled_at"].clone();
    let job = next(&mut client, &ping);
    is_one_period(&start, &job["created_at"]);
}

#[test]
fn class_09_without_a_period_nothing_runs_out() {
    let server = Server::start();
    let mut client = server.client();
    for (kind, period) in [("none", json!(null)), ("endless", json!("infinity"))] {
        let ping = job(kind).unique(json!({"period": period}));
        client.create(&ping);
        clock::throughout("it counts", std::time::Duration::from_millis(300), || {
            client.enqueue(&ping).status == 409
        });
    }
}

#[test]
fn class_09_a_window_of_a_millisecond_is_a_window() {
    let server = Server::start();
    let mut client = server.client();
    let ping = job("ping").unique(json!({"period": "PT0.001S"}));
    let answer = client.bulk(&vec![ping.clone(); 3]);
    assert_eq!(answer.is(207)["succeeded"], 1, "one moment, one job: {}", answer.body);
    next(&mut client, &ping);
}
