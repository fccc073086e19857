//! Progress, checkpoints and results over HTTP, and that they survive.

use e2e::clock::{self, SOON};
use e2e::{Client, Request, Server, job};
use serde_json::{Value, json};

use crate::redelivered;

#[track_caller]
fn put(client: &mut Client, path: &str, body: &Value) -> Value {
    let request = Request::new("PUT", path).header("Content-Type", "application/json").body(body.to_string());
    client.send(&request).is(200).json.clone()
}

#[test]
fn progress_and_checkpoint_survive_a_kill_and_reach_the_next_worker() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("data.migrate").retried(10, 9));
    let first = client.fetch_one("default");
    put(&mut client, &format!("/ojs/v1/jobs/{id}/progress"), &json!({"progress": 0.75, "message": "so far"}));
    put(&mut client, &format!("/ojs/v1/jobs/{id}/checkpoint"), &json!({"state": {"row": 750}}));
    server.crash_and_restart();
    let mut client = server.client();
    let told = client.get(&format!("/ojs/v1/jobs/{id}/progress"));
    assert_eq!((told["progress"].clone(), told["message"].clone()), (json!(0.75), json!("so far")));
    client.nack(&first).is(200);
    let second = redelivered(&mut client, "default");
    assert_eq!(second.job["checkpoint"]["state"], json!({"row": 750}));
    assert_eq!(second.job["last_checkpoint"], json!({"row": 750}));
    assert_eq!(second.job.get("progress"), None, "the new attempt has said nothing");
    client.ack(&second).is(200);
    assert_eq!(client.get(&format!("/ojs/v1/jobs/{id}/checkpoint")).is(200)["sequence"], 1);
}

#[test]
fn whoever_waits_for_a_result_gets_it_when_the_job_ends() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("sum.up"));
    let delivery = client.fetch_one("default");
    let path = format!("/ojs/v1/jobs/{id}/result");
    assert_eq!(client.get(&path).is(408)["error"]["code"], "result_pending");
    let mut waiting = server.client();
    let waiter = std::thread::spawn(move || waiting.get(&format!("{path}?wait=true&timeout=30")));
    let ack = json!({"job_id": id, "lease": delivery.lease, "result": {"sum": 3}});
    client.post("/ojs/v1/workers/ack", &ack).is(200);
    let answer = waiter.join().unwrap();
    assert_eq!(answer.is(200)["result"], json!({"sum": 3}));
}

#[test]
fn a_worker_that_falls_silent_fails_its_attempt() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("long.work").retried(10, 9).with("heartbeat_timeout", 1));
    client.fetch_one("default");
    let stalled = clock::eventually("the attempt stalls", SOON, || {
        let shown = client.job(&id);
        shown.get("error").cloned()
    });
    assert_eq!(
        (stalled["type"].clone(), stalled["timeout_kind"].clone()),
        (json!("stalled"), json!("stalled"))
    );
    assert_eq!(stalled["limit_seconds"], 1);
}

#[test]
fn a_job_that_nobody_starts_in_its_time_is_discarded() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("too.late").with("enqueue_ttl", 1));
    clock::eventually("its time is over", SOON, || (client.state(&id) == "discarded").then_some(()));
    assert_eq!(client.job(&id)["error"]["type"], "enqueue_ttl_expired");
}
