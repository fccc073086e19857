//! The callbacks of batches: those that are due come once, with the results; the others never.

use e2e::{Client, Server};
use serde_json::{Value, json};

use crate::{by, fail, finish, nothing, start, states, step};

const CALLBACKS: [&str; 3] = ["on_complete", "on_success", "on_failure"];

fn batch(callbacks: &[&str]) -> Value {
    let callbacks: serde_json::Map<String, Value> =
        callbacks.iter().map(|name| ((*name).to_owned(), step(&name.replace('_', "-")))).collect();
    json!({"type": "batch", "jobs": [step("a"), step("b")], "callbacks": callbacks})
}

fn begun(client: &mut Client, callbacks: &[&str]) -> String {
    let id = start(client, &batch(callbacks));
    nothing(client, &["on-complete", "on-success", "on-failure"]);
    id
}

#[test]
fn a_batch_that_goes_well_calls_success_and_the_end() {
    let server = Server::start();
    let mut client = server.client();
    let id = begun(&mut client, &CALLBACKS);
    finish(&mut client, "b");
    nothing(&mut client, &["on-complete", "on-success", "on-failure"]);
    finish(&mut client, "a");
    assert_eq!(
        states(&mut client, &id),
        ["running", "completed", "completed", "pending", "pending", "skipped"]
    );
    for name in ["on-complete", "on-success"] {
        assert_eq!(finish(&mut client, name), json!([by("a"), by("b")]), "{name}");
    }
    nothing(&mut client, &["on-complete", "on-success", "on-failure"]);
    assert_eq!(states(&mut client, &id)[0], "completed");
}

#[test]
fn a_batch_with_a_failure_calls_failure_and_the_end() {
    let server = Server::start();
    let mut client = server.client();
    let id = begun(&mut client, &CALLBACKS);
    fail(&mut client, "a");
    nothing(&mut client, &["on-complete", "on-success", "on-failure"]);
    finish(&mut client, "b");
    for name in ["on-failure", "on-complete"] {
        assert_eq!(finish(&mut client, name), json!([null, by("b")]), "{name}");
    }
    nothing(&mut client, &["on-complete", "on-success", "on-failure"]);
    assert_eq!(
        states(&mut client, &id),
        ["completed", "failed", "completed", "completed", "skipped", "completed"],
        "its callbacks have dealt with it"
    );
}

#[test]
fn a_batch_has_the_callbacks_that_it_names() {
    let server = Server::start();
    let mut client = server.client();
    let well = begun(&mut client, &["on_failure"]);
    finish(&mut client, "a");
    finish(&mut client, "b");
    assert_eq!(states(&mut client, &well), ["completed", "completed", "completed", "skipped"]);
    let ill = begun(&mut client, &["on_success"]);
    fail(&mut client, "a");
    finish(&mut client, "b");
    assert_eq!(states(&mut client, &ill), ["completed", "failed", "completed", "skipped"]);
}

#[test]
fn a_callback_that_fails_is_a_failure_of_the_batch() {
    let server = Server::start();
    let mut client = server.client();
    let id = begun(&mut client, &["on_complete"]);
    finish(&mut client, "a");
    finish(&mut client, "b");
    fail(&mut client, "on-complete");
    assert_eq!(states(&mut client, &id), ["failed", "completed", "completed", "failed"]);
}

#[test]
fn a_job_of_a_batch_that_is_called_off_is_one_that_did_not_end_well() {
    let server = Server::start();
    let mut client = server.client();
    begun(&mut client, &CALLBACKS);
    let delivery = client.fetch_one("a");
    client.cancel(&delivery.id).is(200);
    finish(&mut client, "b");
    nothing(&mut client, &["on-success"]);
    assert_eq!(finish(&mut client, "on-failure"), json!([null, by("b")]));
}

#[test]
fn a_chain_goes_on_after_the_callbacks_of_a_batch() {
    let server = Server::start();
    let mut client = server.client();
    let mut inner = batch(&["on_failure"]);
    inner.as_object_mut().map(|members| members.remove("type"));
    let id = start(&mut client, &json!({"type": "chain", "steps": [inner, step("z")]}));
    finish(&mut client, "a");
    fail(&mut client, "b");
    nothing(&mut client, &["z"]);
    finish(&mut client, "on-failure");
    assert_eq!(finish(&mut client, "z"), json!([[by("a"), null]]));
    assert_eq!(states(&mut client, &id)[0], "completed");
}
