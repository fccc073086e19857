//! Workflows that cannot be: each refusal names the place, and nothing of them is stored.

use e2e::{Client, Server};
use serde_json::{Value, json};

use crate::{named, step};

#[track_caller]
fn is_refused(client: &mut Client, workflow: &Value, place: &str, part: &str) {
    let answer = client.post("/ojs/v1/workflows", workflow);
    answer.is_error(400);
    let field = answer["error"]["details"]["field"].as_str().unwrap_or_default();
    assert_eq!(field, place, "{}", answer.message());
    assert!(answer.message().contains(part), "{}", answer.message());
}

fn wrong() -> Vec<(Value, &'static str, &'static str)> {
    let with = |name: &str, value: Value| {
        let mut step = step("a");
        step[name] = value;
        step
    };
    let (chain, group) = ("steps", "jobs");
    vec![
        (json!({}), "type", "chain"),
        (json!([]), "the body", "object"),
        (json!({"type": "circle", chain: []}), "type", "chain, group, batch"),
        (json!({"type": "chain"}), "steps", "is required"),
        (json!({"type": "chain", chain: []}), "steps", "at least one job"),
        (json!({"type": "group", group: []}), "jobs", "at least one job"),
        (json!({"type": "group", group: 7}), "jobs", "array"),
        (json!({chain: []}), "steps", "at least one job"),
        (json!({"type": "chain", chain: [step("a"), {chain: []}]}), "steps", "step-1"),
        (json!({"type": "chain", chain: [step("a"), 7]}), "steps[1]", "a job or a workflow"),
        (json!({"type": "chain", chain: [step("a"), {"args": []}]}), "steps[1].type", "is required"),
        (
            json!({"type": "chain", chain: [{group: [with("args", json!(7))]}]}),
            "steps[0].jobs[0].args",
            "array",
        ),
        (json!({"type": "chain", chain: [with("queue", json!("B q"))]}), "steps[0].queue", "queue name"),
        (json!({"type": "chain", chain: [with("job_key", json!("k"))]}), "steps[0].job_key", "its own"),
        (
            json!({"type": "chain", chain: [with("unique", json!({"on_conflict": "ignore"}))]}),
            "steps[0].unique",
            "its own",
        ),
        (json!({"type": "batch", group: [step("a")]}), "callbacks", "no callback"),
        (json!({"type": "batch", group: [step("a")], "callbacks": {}}), "callbacks", "no callback"),
        (
            json!({"type": "batch", group: [step("a")], "callbacks": {"on_sucess": step("b")}}),
            "callbacks.on_sucess",
            "did you mean \"on_success\"",
        ),
        (
            json!({"type": "batch", group: [step("a")], "callbacks": {"on_success": {"args": []}}}),
            "callbacks.on_success.type",
            "is required",
        ),
        (json!({chain: [named("a", &["a"])]}), "steps[0].depends_on", "a -> a"),
        (
            json!({chain: [named("a", &["b"]), named("b", &["c"]), named("c", &["a"])]}),
            "steps[0].depends_on",
            "a -> b -> c -> a",
        ),
        (json!({chain: [named("a", &["b"])]}), "steps[0].depends_on", "\"a\" depends on \"b\""),
        (json!({chain: [named("a", &[]), named("a", &[])]}), "steps[1].id", "the id \"a\""),
        (json!({chain: [named("", &[])]}), "steps[0].id", "at least one character"),
        (json!({chain: [named("a\u{0}", &[])]}), "steps[0].id", "no control characters"),
        (json!({"type": "chain", chain: [with("id", json!("a"))]}), "steps[0].id", "numbers its steps"),
        (json!({"type": "chain", chain: [with("pending", json!(true))]}), "steps[0].pending", "itself"),
        (json!({chain: [with("depends_on", json!("b"))]}), "steps[0].depends_on", "array"),
        (json!({"name": 7, "type": "chain", chain: [step("a")]}), "name", "name"),
        (json!({"options": 7, "type": "chain", chain: [step("a")]}), "options", "object"),
    ]
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let server = Server::start();
    let mut client = server.client();
    for (workflow, place, part) in wrong() {
        is_refused(&mut client, &workflow, place, part);
    }
    assert!(client.get("/ojs/v1/workflows").is(200).list("/workflows").is_empty());
    assert!(client.fetch("a", 9).is_empty());
}

#[test]
fn what_is_too_large_is_refused_and_the_largest_is_not() {
    let server = Server::start();
    let mut client = server.client();
    let many = |count: usize| json!({"type": "group", "jobs": vec![json!({"type": "t", "args": []}); count]});
    is_refused(&mut client, &many(10_001), "jobs", "10000 steps");
    client.post("/ojs/v1/workflows", &many(10_000)).is(201);
    let long =
        |count: usize| json!({"type": "chain", "steps": vec![json!({"type": "t", "args": []}); count]});
    is_refused(&mut client, &long(1001), "steps", "1000 steps");
    client.post("/ojs/v1/workflows", &long(1000)).is(201);
}

#[test]
fn what_is_too_deep_is_refused_and_the_deepest_is_not() {
    let server = Server::start();
    let mut client = server.client();
    let deep = |levels: usize| {
        let mut workflow = step("a");
        for _ in 0..levels {
            workflow = json!({"steps": [workflow]});
        }
        workflow["type"] = json!("chain");
        workflow
    };
    client.post("/ojs/v1/workflows", &deep(8)).is(201);
    for levels in [9, 10, 100] {
        let answer = client.post("/ojs/v1/workflows", &deep(levels));
        answer.is_error(400);
        assert!(answer.message().contains("deep"), "{levels}: {}", answer.message());
    }
}
