//! A job that is watched: how far it comes, and what comes of it.

use e2e::{Client, Delivery, Listener, Request, Server, job};
use serde_json::{Value, json};

fn report(client: &mut Client, id: &str, body: &Value) {
    let request = Request::new("PUT", &format!("/ojs/v1/jobs/{id}/progress"));
    client.send(&request.header("Content-Type", "application/json").body(body.to_string())).is(200);
}

fn watch(server: &Server, id: &str, what: &str) -> Listener {
    Listener::open(server, &format!("/ojs/v1/jobs/{id}/{what}/stream"))
}

fn running(client: &mut Client) -> (String, Delivery) {
    let id = client.create(&job("a.b"));
    (id, client.fetch_one("default"))
}

#[test]
fn progress_is_told_from_where_it_stands_to_the_end() {
    let server = Server::start();
    let mut client = server.client();
    let (id, delivery) = running(&mut client);
    report(&mut client, &id, &json!({"progress": 0.25, "data": {"rows": 1}}));
    let mut stream = watch(&server, &id, "progress");
    assert!(stream.head.contains("content-type: text/event-stream\r\n"), "{}", stream.head);
    let first = stream.until("progress");
    assert_eq!((&first.data["progress"], &first.data["data"]), (&json!(0.25), &json!({"rows": 1})));
    report(&mut client, &id, &json!({"progress": 0.5, "message": "half"}));
    let second = stream.until("progress");
    assert_eq!((&second.data["progress"], &second.data["message"]), (&json!(0.5), &json!("half")));
    client.ack(&delivery).is(200);
    let last = stream.until("completed");
    assert_eq!((&last.data["progress"], &last.data["state"]), (&json!(1), &json!("completed")));
    assert_eq!(stream.event(), None, "the end of the job is the end of the stream");
    let again =
        Request::new("GET", &format!("/ojs/v1/jobs/{id}/progress/stream")).header("Last-Event-ID", &last.id);
    client.send(&again).is(204);
}

#[test]
fn every_end_has_its_event_for_those_who_wait_and_those_who_come_late() {
    let server = Server::start();
    let mut client = server.client();
    let cancelled = client.create(&job("a.b"));
    let mut streams = [watch(&server, &cancelled, "progress"), watch(&server, &cancelled, "result")];
    assert_eq!(streams[0].until("progress").data["state"], "available");
    client.cancel(&cancelled).is(200);
    for (stream, event) in streams.iter_mut().zip(["cancelled", "error"]) {
        assert_eq!(stream.until(event).data["state"], "cancelled");
        assert_eq!(stream.event(), None);
    }
    let failed = client.create(&job("a.b").retried(20, 1));
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    for (what, event) in [("progress", "failed"), ("result", "error")] {
        let mut late = watch(&server, &failed, what);
        let told = late.event().unwrap_or_else(|| panic!("{what}: nothing was told"));
        assert_eq!(told.event, event);
        assert!(told.data["error"]["message"].is_string(), "{told:?}");
        assert_eq!(late.event(), None);
    }
}

#[test]
fn a_result_is_told_as_it_was_sent_after_the_progress() {
    let server = Server::start();
    let mut client = server.client();
    let (id, delivery) = running(&mut client);
    let mut stream = watch(&server, &id, "result");
    assert_eq!(stream.until("progress").data["progress"], Value::Null);
    report(&mut client, &id, &json!({"progress": 0.5}));
    assert_eq!(stream.until("progress").data["progress"], 0.5);
    let done = json!({"job_id": id, "lease": delivery.lease, "result": {"sum": 3}});
    client.post("/ojs/v1/workers/ack", &done).is(200);
    let told = stream.until("result");
    assert_eq!((&told.data["value"], &told.data["state"]), (&json!({"sum": 3}), &json!("completed")));
    assert_eq!(stream.event(), None);
    for what in ["progress", "result"] {
        let missing = format!("/ojs/v1/jobs/019539a4-b68c-7def-8000-1a2b3c4d5e6f/{what}/stream");
        client.get(&missing).is_refusal(404, "not_found");
    }
}
