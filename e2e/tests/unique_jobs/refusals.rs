//! Bad policies: each is refused by its name, and nothing is stored.

use e2e::{Request, Server, job};
use serde_json::json;

/// A policy, and the word that the refusal must contain.
const BAD: &[(&str, &str)] = &[
    (r#"{"keys":["argz"]}"#, "argz"),
    (r#"{"keys":["Type"]}"#, "Type"),
    (r#"{"keys":[1]}"#, "keys"),
    (r#"{"keys":"type"}"#, "keys"),
    (r#"{"keys":["meta"]}"#, "meta_keys"),
    (r#"{"keys":["meta"],"meta_keys":[]}"#, "meta_keys"),
    (r#"{"keys":["meta"],"meta_keys":null}"#, "meta_keys"),
    (r#"{"keys":["meta"],"meta_keys":["absent"]}"#, "absent"),
    (r#"{"keys":["args"],"args_keys":["absent"]}"#, "absent"),
    (r#"{"keys":["args"],"args_keys":[]}"#, "args_keys"),
    (r#"{"keys":["args"],"args_keys":["7"]}"#, "7"),
    (r#"{"keys":["args"],"args_keys":[3]}"#, "args_keys"),
    (r#"{"keys":["args"],"args_keys":"n"}"#, "args_keys"),
    (r#"{"states":[]}"#, "states"),
    (r#"{"states":["done"]}"#, "done"),
    (r#"{"states":["Available"]}"#, "Available"),
    (r#"{"states":"everything"}"#, "everything"),
    (r#"{"states":5}"#, "states"),
    (r#"{"on_conflict":"explode"}"#, "explode"),
    (r#"{"on_conflict":7}"#, "on_conflict"),
    (r#"{"period":0}"#, "period"),
    (r#"{"period":-5}"#, "period"),
    (r#"{"period":1.5}"#, "period"),
    (r#"{"period":"P"}"#, "period"),
    (r#"{"period":"PT"}"#, "period"),
    (r#"{"period":"PT0S"}"#, "period"),
    (r#"{"period":"-PT5S"}"#, "period"),
    (r#"{"period":"tomorrow"}"#, "period"),
    (r#"{"period":true}"#, "period"),
    (r#"{"period_from":"yesterday"}"#, "yesterday"),
    (r#"{"period_from":5}"#, "period_from"),
    (r#"{"key":5}"#, "key"),
    (r#"{"replace":["colour"]}"#, "colour"),
    (r#"{"replace":{"running":["args"]}}"#, "running"),
    (r#"{"replace":"args"}"#, "replace"),
    ("[]", "unique"),
    (r#""yes""#, "unique"),
    ("true", "unique"),
];

/// A misspelt member, and the member that was meant.
const MISSPELT: &[(&str, &str)] = &[
    ("perod", "period"),
    ("on_conflit", "on_conflict"),
    ("args_key", "args_keys"),
    ("meta_key", "meta_keys"),
    ("state", "states"),
    ("period_form", "period_from"),
];

#[test]
fn every_bad_policy_is_refused_by_name_and_nothing_is_stored() {
    let server = Server::start();
    let mut client = server.client();
    for (policy, word) in BAD {
        let body = format!(r#"{{"type":"a.b","args":[{{"n":1}}],"unique":{policy}}}"#);
        let answer = client.send(&Request::post("/ojs/v1/jobs", body));
        assert_eq!(answer.status, 400, "{policy}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains(word), "{policy}: no {word} in {:?}", answer.message());
    }
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn a_misspelt_member_is_refused_with_the_nearest_name() {
    let server = Server::start();
    let mut client = server.client();
    for (misspelt, meant) in MISSPELT {
        let answer = client.enqueue(&job("a.b").unique(json!({*misspelt: "PT1H"})));
        answer.is_refusal(400, "invalid_request");
        let message = answer.message();
        assert!(message.contains(misspelt), "no {misspelt} in {message:?}");
        let rest = message.replacen(misspelt, "", 1);
        assert!(rest.contains(meant), "no {meant} in {message:?}");
    }
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn a_bad_policy_under_options_is_refused_too() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.enqueue(&job("a.b").with("options", json!({"unique": {"keys": ["argz"]}})));
    answer.is_refusal(400, "invalid_request");
    assert!(answer.message().contains("argz"), "{}", answer.body);
}

#[test]
fn names_that_become_equal_are_refused() {
    let server = Server::start();
    let mut client = server.client();
    let body =
        "{\"type\":\"a.b\",\"args\":{\"caf\u{e9}\":1,\"cafe\u{301}\":2},\"unique\":{\"keys\":[\"args\"]}}";
    client.send(&Request::post("/ojs/v1/jobs", body)).is_refusal(400, "invalid_request");
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn a_null_policy_is_no_policy_and_unused_meta_keys_do_no_harm() {
    let server = Server::start();
    let mut client = server.client();
    for policy in [json!(null), json!(null), json!({"keys": ["type"], "meta_keys": []})] {
        client.create(&job("a.b").unique(policy));
    }
}
