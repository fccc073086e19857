//! Several jobs in one request follow the same rules as several requests.

use e2e::{Server, job};
use serde_json::json;

#[test]
fn a_batch_with_a_rejected_duplicate_stores_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let unique = job("email.send").on_conflict("reject").json();
    let jobs = json!({"jobs": [job("other").json(), unique, unique]});
    let answer = client.post("/ojs/v1/jobs/batch", &jobs);
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["index"], 2);
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn items_of_a_batch_see_the_items_before_them() {
    let server = Server::start();
    let mut client = server.client();
    let with = |strategy: &str| job("email.send").on_conflict(strategy).json();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [with("ignore"), with("ignore")]}));
    answer.is(201);
    assert_eq!(answer["count"], 2);
    assert_eq!(answer["jobs"][0]["id"], answer["jobs"][1]["id"]);
    assert_eq!(client.count("default", "available"), 1);

    let first = answer.text("/jobs/0/id").to_owned();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [with("replace"), with("replace")]}));
    answer.is(201);
    let middle = answer.text("/jobs/0/id").to_owned();
    let last = answer.text("/jobs/1/id").to_owned();
    assert_eq!(client.state(&first), "cancelled");
    assert_eq!(client.state(&middle), "cancelled");
    assert_eq!(client.state(&last), "available");
}

#[test]
fn a_bad_job_in_a_batch_is_named_and_nothing_is_stored() {
    let server = Server::start();
    let mut client = server.client();
    let bad = job("a.b").unique(json!({"keys": ["argz"]})).json();
    let answer = client.post("/ojs/v1/jobs/batch", &json!({"jobs": [job("a.b").json(), bad]}));
    answer.is_refusal(400, "invalid_request");
    assert_eq!(answer["error"]["details"]["index"], 1, "{}", answer.body);
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn a_batch_that_is_refused_lets_no_successor_go() {
    let server = Server::start();
    let mut client = server.client();
    let latest = job("sync").unique(json!({"on_conflict": "ignore", "while_active": "queue_latest"}));
    client.create(&latest);
    let running = client.fetch_one("default");
    let successor = client.create(&latest);
    client.create(&job("alone").on_conflict("reject"));
    let replacing = job("sync").unique(json!({"states": ["active"], "on_conflict": "replace"}));
    client.batch(&[replacing.clone(), job("alone").on_conflict("reject")]).is_refusal(409, "duplicate");
    assert_eq!((client.state(&running.id), client.state(&successor)), ("active".into(), "pending".into()));
    client.batch(&[replacing, job("other")]).is(201);
    assert_eq!(
        (client.state(&running.id), client.state(&successor)),
        ("cancelled".into(), "available".into())
    );
}

#[test]
fn a_batch_waits_behind_a_running_job_as_one() {
    let server = Server::start();
    let mut client = server.client();
    let latest = |number: u32| {
        let policy = json!({"on_conflict": "ignore", "while_active": "queue_latest"});
        job("sync").args(json!([number])).unique(policy)
    };
    client.create(&latest(1));
    let running = client.fetch_one("default");
    let answer = client.batch(&[latest(2), latest(3), latest(4)]);
    let id = answer.is(201).text("/jobs/0/id").to_owned();
    assert!(answer.list("/jobs").iter().all(|job| job["id"] == id.as_str()), "{}", answer.body);
    client.ack(&running).is(200);
    let next = client.fetch_one("default");
    assert_eq!((next.id, &next.job["args"]), (id, &json!([4])));
}
