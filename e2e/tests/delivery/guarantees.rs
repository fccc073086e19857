//! The fifteen requirements of the delivery-guarantees document, section 11.

use std::collections::BTreeSet;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Server, TERMINAL, ids, job, together};
use serde_json::json;

use crate::redelivered;

#[test]
fn dg_001_at_least_once_is_the_default() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let lost = client.fetch_for("default", 300);
    assert_eq!(lost.id, id);
    // The first worker is never heard of again.
    let second = redelivered(&mut client, "default");
    client.ack(&second).is(200);
    assert_eq!(client.state(&id), "completed");
}

#[test]
fn dg_002_a_successful_push_is_durable() {
    let mut server = Server::start();
    let id = server.client().create(&job("a.b").args(json!([{"n": 1}])));
    server.crash_and_restart();
    let stored = server.client().job(&id);
    assert_eq!(stored["state"], "available");
    assert_eq!(stored["args"], json!([{"n": 1}]));
}

#[test]
fn dg_003_a_fetched_job_is_invisible_until_its_lease_ends() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    client.fetch_for("default", 600);
    let before = clock::now();
    clock::throughout("nobody else gets it", Duration::from_millis(450), || {
        client.fetch("default", 1).is_empty() && client.state(&id) == "active"
    });
    assert_eq!(redelivered(&mut client, "default").id, id);
    assert!(before.elapsed() < Duration::from_secs(5), "the lease was to end after 600 ms");
}

#[test]
fn dg_004_the_reaper_puts_a_job_back_without_a_fetch() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    client.fetch_for("default", 300);
    clock::until("the reaper finds it", SOON, || client.state(&id) == "available");
    let error = &client.job(&id)["errors"][0];
    assert_eq!(error["type"], "visibility_timeout");
    assert_eq!(error["attempt"], 1);
}

#[test]
fn dg_005_the_id_stays_over_redeliveries() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").retried(10, 5));
    let first = client.fetch_for("default", 200);
    let second = redelivered(&mut client, "default");
    client.nack(&second).is(200);
    let third = redelivered(&mut client, "default");
    assert_eq!([&first.id, &second.id, &third.id], [&id, &id, &id]);
    let attempts = [&first, &second, &third].map(|delivery| delivery.job["attempt"].clone());
    assert_eq!(attempts, [json!(1), json!(2), json!(3)]);
}

#[test]
fn dg_006_no_two_workers_get_the_same_job() {
    const JOBS: usize = 60;
    let server = Server::start();
    let jobs: Vec<_> = (0..JOBS).map(|_| job("a.b").json()).collect();
    server.client().post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is(201);
    let fetched = together(6, |_| {
        let mut client = server.client();
        let mut ids = Vec::new();
        while let Some(delivery) = client.fetch("default", 1).pop() {
            ids.push(delivery.id);
        }
        ids
    });
    let fetched = fetched.concat();
    assert_eq!(fetched.len(), JOBS);
    assert_eq!(fetched.iter().collect::<BTreeSet<_>>().len(), JOBS, "a job went out twice");
}

#[test]
fn dg_007_terminal_states_are_final() {
    let server = Server::start();
    let mut client = server.client();
    for state in TERMINAL {
        let queue = format!("queue-{state}");
        let id = client.create(&job("a.b").on(&queue));
        let delivery = client.fetch_one(&queue);
        match state {
            "completed" => client.ack(&delivery).is(200).status,
            "discarded" => client.give_up(&delivery).is(200).status,
            _ => client.cancel(&id).is(200).status,
        };
        client.ack(&delivery).is_error(409);
        client.nack(&delivery).is_error(409);
        client.cancel(&id).is_refusal(409, "conflict");
        assert_eq!(client.state(&id), state);
        assert!(client.fetch(&queue, 1).is_empty(), "a {state} job was delivered");
    }
}

#[test]
fn dg_008_no_accepted_job_is_dropped() {
    const JOBS: usize = 120;
    let mut server = Server::start();
    let mut client = server.client();
    let accepted: BTreeSet<String> = (0..JOBS).map(|_| client.create(&job("a.b"))).collect();
    server.crash_and_restart();
    let mut client = server.client();
    let mut delivered = BTreeSet::new();
    while let Some(delivery) = client.fetch("default", 1).pop() {
        client.ack(&delivery).is(200);
        delivered.insert(delivery.id);
    }
    assert_eq!(delivered, accepted);
}

#[test]
fn dg_009_a_heartbeat_extends_the_lease() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b"));
    let body = json!({"queues": ["default"], "worker_id": "w-1", "visibility_timeout_ms": 700});
    let held = client.fetch_with(&body).pop().expect("a job");
    clock::throughout("heartbeats keep the lease", Duration::from_millis(1500), || {
        let beat = client.heartbeat("w-1", &[&held.id]);
        beat.is(200)["jobs_extended"] == json!([held.id]) && client.fetch("default", 1).is_empty()
    });
    client.ack(&held).is(200);
}

#[test]
fn dg_010_the_id_is_a_natural_idempotency_key() {
    let server = Server::start();
    let mut client = server.client();
    let id = ids::fresh(&mut e2e::Random::seeded());
    let send = job("a.b").with("id", id.as_str());
    assert_eq!(client.create(&send), id);
    let again = client.enqueue(&send);
    again.is_refusal(409, "duplicate");
    assert_eq!(again["error"]["details"]["existing_job_id"], id.as_str());
    assert_eq!(client.count("default", "available"), 1);
    assert_eq!(client.fetch_one("default").id, id);
}

#[test]
fn dg_011_a_client_reads_its_own_writes() {
    let server = Server::start();
    let (mut writer, mut reader) = (server.client(), server.client());
    for number in 0..50_u64 {
        let id = writer.create(&job("a.b"));
        assert_eq!(reader.state(&id), "available");
        assert_eq!(reader.count("default", "available"), 1);
        let delivery = writer.fetch_one("default");
        assert_eq!(reader.state(&id), "active");
        writer.ack(&delivery).is(200);
        assert_eq!(reader.state(&id), "completed");
        assert_eq!(reader.count("default", "completed"), number + 1);
    }
}

#[test]
fn dg_012_a_late_ack_counts_while_nobody_else_has_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let late = client.fetch_for("default", 200);
    clock::until("the lease runs out", SOON, || client.state(&id) == "available");
    client.ack(&late).is(200);
    assert_eq!(client.state(&id), "completed");
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn dg_013_at_most_once_is_completed_in_the_moment_it_is_fetched() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").with("delivery", "at_most_once"));
    let delivery = client.fetch_for("default", 100);
    assert_eq!(delivery.id, id);
    assert_eq!(client.state(&id), "completed");
    client.ack(&delivery).is_error(409);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.state(&id), "completed");
    clock::throughout("it is never delivered again", Duration::from_millis(300), || {
        client.fetch("default", 1).is_empty()
    });
}

#[test]
fn dg_014_one_worker_gets_jobs_in_the_order_they_came() {
    let server = Server::start();
    let mut client = server.client();
    let ids: Vec<String> = (0..40).map(|_| client.create(&job("a.b"))).collect();
    let singly: Vec<String> = (0..20).map(|_| client.fetch_one("default").id).collect();
    let together: Vec<String> = client.fetch("default", 20).into_iter().map(|found| found.id).collect();
    assert_eq!([singly, together].concat(), ids);
}

#[test]
fn dg_015_the_manifest_says_what_is_guaranteed() {
    let server = Server::start();
    let manifest = server.client().get("/ojs/manifest");
    let text = manifest.is(200).body.clone();
    for word in ["at_least_once", "at_most_once", "fifo"] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    assert_eq!(manifest["unique_job_strength"], "strong");
}
