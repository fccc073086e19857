//! Workflows that are called off: what waits does not run, what runs may end.

use e2e::Server;
use serde_json::json;

use crate::{finish, nothing, start, states, step};

#[test]
fn what_waits_does_not_run_and_what_runs_may_end() {
    let server = Server::start();
    let mut client = server.client();
    let group = json!({"jobs": [step("b"), step("c")]});
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a"), group, step("d")]}));
    finish(&mut client, "a");
    let running = client.fetch_one("b");
    let answer = client.delete(&format!("/ojs/v1/workflows/{id}"));
    assert_eq!(answer.is(200)["workflow"]["state"], "cancelled", "{}", answer.body);
    assert_eq!(answer["workflow"]["steps_cancelled"], 2, "{}", answer.body);
    assert_eq!(answer["workflow"]["steps_already_completed"], 1, "{}", answer.body);
    nothing(&mut client, &["c", "d"]);
    assert_eq!(states(&mut client, &id), ["cancelled", "completed", "active", "cancelled", "cancelled"]);
    client.ack(&running).is(200);
    nothing(&mut client, &["c", "d"]);
    assert_eq!(states(&mut client, &id), ["cancelled", "completed", "completed", "cancelled", "cancelled"]);
}

#[test]
fn no_callback_comes_after_a_batch_was_called_off() {
    let server = Server::start();
    let mut client = server.client();
    let callbacks = json!({"on_complete": step("end"), "on_failure": step("ill")});
    let id = start(&mut client, &json!({"type": "batch", "jobs": [step("a")], "callbacks": callbacks}));
    client.delete(&format!("/ojs/v1/workflows/{id}")).is(200);
    nothing(&mut client, &["a", "end", "ill"]);
    assert_eq!(states(&mut client, &id)[0], "cancelled");
}

#[test]
fn a_workflow_that_has_ended_cannot_be_called_off() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a")]}));
    finish(&mut client, "a");
    let path = format!("/ojs/v1/workflows/{id}");
    client.delete(&path).is_error(409);
    assert_eq!(states(&mut client, &id)[0], "completed");
    let other = start(&mut client, &json!({"type": "chain", "steps": [step("a")]}));
    client.delete(&format!("/ojs/v1/workflows/{other}")).is(200);
    client.delete(&format!("/ojs/v1/workflows/{other}")).is_error(409);
    client.delete("/ojs/v1/workflows/01912345-6789-7abc-8def-012345600000").is_refusal(404, "not_found");
}
