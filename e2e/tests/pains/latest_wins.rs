//! Class 6: one runs, one waits, and the newest wins; bursts become one run.

use e2e::clock::{self, SOON};
use e2e::{Delivery, Job, Server, job};
use serde_json::json;

fn version(number: u32, policy: serde_json::Value) -> Job {
    job("sync").args(json!([{"version": number}])).unique(policy)
}

#[test]
fn class_06_a_hundred_changes_during_a_run_are_one_more_run_with_the_newest() {
    let server = Server::start();
    let mut client = server.client();
    let latest = json!({"while_active": "queue_latest", "on_conflict": "ignore"});
    client.create(&version(0, latest.clone()));
    let running = client.fetch_one("default");
    for number in 1..=100 {
        let answer = client.enqueue(&version(number, latest.clone()));
        assert_eq!(answer.status, if number == 1 { 201 } else { 200 }, "{}", answer.body);
    }
    assert!(client.fetch("default", 10).is_empty(), "nothing runs beside it");
    client.ack(&running).is(200);
    let next: Vec<Delivery> = client.fetch("default", 10);
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].job["args"], json!([{"version": 100}]));
    client.ack(&next[0]).is(200);
    assert!(client.fetch("default", 10).is_empty());
}

#[test]
fn class_06_a_change_during_the_last_moment_of_a_run_is_not_lost() {
    let server = Server::start();
    let latest = json!({"while_active": "queue_latest", "on_conflict": "ignore"});
    for round in 0..50 {
        let mut client = server.client();
        client.create(&version(0, latest.clone()));
        let running = client.fetch_one("default");
        let statuses = e2e::together(2, |number| {
            let mut client = server.client();
            if number == 0 {
                client.ack(&running).status
            } else {
                client.enqueue(&version(1, latest.clone())).status
            }
        });
        assert_eq!(statuses, [200, 201], "round {round}");
        let next = client.fetch_one("default");
        assert_eq!(next.job["args"], json!([{"version": 1}]), "round {round}");
        client.ack(&next).is(200);
    }
}

#[test]
fn class_06_a_burst_is_one_run_with_the_newest() {
    let server = Server::start();
    let mut client = server.client();
    let debounced = json!({"debounce": {"wait": "PT0.3S", "max_wait": "PT5S"}});
    for number in 0..40 {
        let answer = client.enqueue(&version(number, debounced.clone()));
        assert_eq!(answer.status, if number == 0 { 201 } else { 200 }, "{}", answer.body);
    }
    let run = clock::eventually("the burst is over", SOON, || client.fetch("default", 1).pop());
    assert_eq!(run.job["args"], json!([{"version": 39}]));
    client.ack(&run).is(200);
    assert_eq!(client.count("default", "completed"), 1);
    assert_eq!(client.count("default", "scheduled") + client.count("default", "available"), 0);
}

#[test]
fn class_06_a_burst_without_end_does_not_starve_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let debounced = json!({"debounce": {"wait": "PT0.2S", "max_wait": "PT0.4S"}});
    let mut number = 0;
    let run = clock::eventually("it runs in the midst of the burst", SOON, || {
        client.enqueue(&version(number, debounced.clone()));
        number += 1;
        client.fetch("default", 1).pop()
    });
    assert!(run.job["args"][0]["version"].as_u64() >= Some(1), "{}", run.job);
}
