//! Chains, groups, and what is nested in them.

use e2e::Server;
use serde_json::{Value, json};

use crate::{by, fail, finish, nothing, shown, start, states, step};

#[test]
fn a_chain_goes_step_by_step_and_each_gets_the_results_before_it() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a"), step("b"), step("c")]}));
    assert_eq!(states(&mut client, &id), ["running", "pending", "waiting", "waiting"]);
    nothing(&mut client, &["b", "c"]);
    assert_eq!(finish(&mut client, "a"), Value::Null);
    nothing(&mut client, &["a", "c"]);
    assert_eq!(finish(&mut client, "b"), json!([by("a")]));
    assert_eq!(finish(&mut client, "c"), json!([by("a"), by("b")]));
    let shown = shown(&mut client, &id);
    assert_eq!((&shown["state"], &shown["steps_completed"]), (&json!("completed"), &json!(3)), "{shown}");
    assert_eq!(shown["steps"][1]["result"], by("b"), "{shown}");
    assert!(shown["completed_at"].is_string(), "{shown}");
}

#[test]
fn a_chain_waits_for_the_retries_of_a_step() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a"), step("b")]}));
    let delivery = client.fetch_one("a");
    client.nack(&delivery).is(200);
    assert_eq!(states(&mut client, &id)[0], "running");
    nothing(&mut client, &["b"]);
    e2e::clock::until("the step is tried again", e2e::clock::SOON, || {
        client.state(&delivery.id) == "available"
    });
    finish(&mut client, "a");
    finish(&mut client, "b");
    assert_eq!(states(&mut client, &id), ["completed", "completed", "completed"]);
}

#[test]
fn a_chain_stops_at_a_step_that_failed() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a"), step("b"), step("c")]}));
    finish(&mut client, "a");
    fail(&mut client, "b");
    assert_eq!(states(&mut client, &id), ["failed", "completed", "failed", "cancelled"]);
    nothing(&mut client, &["a", "b", "c"]);
    let last = shown(&mut client, &id)["steps"][2]["job_id"].as_str().unwrap_or_default().to_owned();
    assert_eq!(client.state(&last), "cancelled");
}

#[test]
fn a_group_runs_all_at_once_and_ends_with_the_last() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "group", "jobs": [step("a"), step("b"), step("c")]}));
    for name in ["c", "a"] {
        assert_eq!(finish(&mut client, name), Value::Null);
        assert_eq!(states(&mut client, &id)[0], "running");
    }
    finish(&mut client, "b");
    assert_eq!(states(&mut client, &id), ["completed", "completed", "completed", "completed"]);
}

#[test]
fn a_group_with_a_job_that_failed_lets_the_others_end_and_has_failed() {
    let server = Server::start();
    let mut client = server.client();
    let id = start(&mut client, &json!({"type": "group", "jobs": [step("a"), step("b")]}));
    fail(&mut client, "a");
    assert_eq!(states(&mut client, &id), ["running", "failed", "pending"]);
    finish(&mut client, "b");
    assert_eq!(states(&mut client, &id), ["failed", "failed", "completed"]);
}

#[test]
fn a_group_in_a_chain_begins_and_ends_together() {
    let server = Server::start();
    let mut client = server.client();
    let group = json!({"jobs": [step("b"), {"steps": [step("c"), step("d")]}]});
    let id = start(&mut client, &json!({"type": "chain", "steps": [step("a"), group, step("e")]}));
    nothing(&mut client, &["b", "c", "d", "e"]);
    finish(&mut client, "a");
    for name in ["b", "c"] {
        assert_eq!(finish(&mut client, name), json!([by("a")]), "{name}");
    }
    nothing(&mut client, &["e"]);
    assert_eq!(finish(&mut client, "d"), json!([by("c")]));
    assert_eq!(finish(&mut client, "e"), json!([by("a"), [by("b"), [by("c"), by("d")]]]));
    assert_eq!(states(&mut client, &id)[0], "completed");
}

#[test]
fn options_of_a_workflow_hold_for_jobs_that_do_not_say_otherwise() {
    let server = Server::start();
    let mut client = server.client();
    let plain = json!({"type": "plain", "args": []});
    let own = json!({"type": "own", "args": [], "options": {"queue": "own"}});
    let options = json!({"queue": "shared", "priority": 7});
    start(&mut client, &json!({"type": "group", "jobs": [plain, own], "options": options}));
    let shared = client.fetch_one("shared");
    assert_eq!((&shared.job["type"], &shared.job["priority"]), (&json!("plain"), &json!(7)));
    assert_eq!(client.fetch_one("own").job["type"], "own");
}

#[test]
fn a_workflow_is_listed_and_its_jobs_name_it() {
    let server = Server::start();
    let mut client = server.client();
    // In the order of their ids: of those of one millisecond none is the older.
    let mut ids: Vec<String> = (0..3)
        .map(|_| start(&mut client, &json!({"type": "chain", "name": "n", "steps": [step("a")]})))
        .collect();
    ids.sort();
    let mut named: Vec<Value> =
        client.fetch("a", 9).into_iter().map(|delivery| delivery.job["workflow_id"].clone()).collect();
    named.sort_by_key(Value::to_string);
    assert_eq!(json!(named), json!(ids));
    let first = client.get("/ojs/v1/workflows?limit=2");
    assert_eq!(first.is(200).list("/workflows").len(), 2);
    assert_eq!((&first["workflows"][0]["id"], &first["workflows"][0]["name"]), (&json!(ids[0]), &json!("n")));
    let rest =
        client.get(&format!("/ojs/v1/workflows?limit=2&cursor={}", first.text("/pagination/next_cursor")));
    assert_eq!(rest.is(200)["workflows"][0]["id"], ids[2].as_str());
    assert_eq!(rest["pagination"]["has_more"], false);
}
