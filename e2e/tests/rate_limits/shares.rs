//! Tenants that take turns.

use e2e::{Client, Server};
use serde_json::{Value, json};

use crate::{QUEUE, body, create, put};

fn fair(tenant: &str) -> Value {
    json!({"key": tenant, "share": "fair"})
}

/// Whose jobs are next, each fetched and done before the one after it.
fn taken(client: &mut Client, count: usize) -> Vec<String> {
    let one = |_| {
        let fetched = client.fetch_one(QUEUE);
        client.ack(&fetched).is(200);
        fetched.job["rate_limit"]["key"].as_str().unwrap_or("none").to_owned()
    };
    (0..count).map(one).collect()
}

#[test]
fn a_tenant_with_many_jobs_does_not_hold_up_another() {
    let mut server = Server::start();
    let mut client = server.client();
    let jobs = vec![body(&fair("large")); 300];
    client.post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is(201);
    create(&mut client, 3, &fair("small"));
    assert_eq!(taken(&mut client, 3), ["large", "small", "large"]);
    server.crash_and_restart();
    let mut client = server.client();
    create(&mut client, 1, &fair("new"));
    assert_eq!(taken(&mut client, 6), ["small", "large", "small", "new", "large", "large"]);
}

#[test]
fn a_queue_may_say_so_for_its_jobs() {
    let server = Server::start();
    let mut client = server.client();
    let path = format!("/ojs/v1/queues/{QUEUE}/config");
    put(&mut client, &path, &json!({"share": "fair"})).is(200);
    assert_eq!(client.get(&path).is(200)["config"]["share"], "fair");
    let large = create(&mut client, 3, &json!({"key": "large"}));
    let small = create(&mut client, 1, &json!({"key": "small"}));
    let other = create(&mut client, 1, &json!({"key": "other", "share": "line"}));
    assert_eq!(client.job(&large[0])["rate_limit"]["share"], "fair");
    assert_eq!(client.job(&other[0])["rate_limit"].get("share"), None, "it said what it wants");
    let order: Vec<String> = client.fetch(QUEUE, 9).into_iter().map(|fetched| fetched.id).collect();
    assert_eq!(order, [&large[0], &small[0], &large[1], &large[2], &other[0]].map(String::clone));
    put(&mut client, &path, &json!({"share": null})).is(200);
    assert_eq!(client.get(&path).is(200)["config"].get("share"), None);
}
