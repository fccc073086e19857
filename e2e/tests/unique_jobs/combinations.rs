//! Parts of a policy that contradict each other: each is refused by its name, and nothing is stored.

use e2e::{FAR_FUTURE, Request, Server, job};
use serde_json::json;

/// A policy, and the words that the refusal must contain.
const BAD: &[(&str, &[&str])] = &[
    (r#"{"debounce":{"wait":"PT1S"},"on_conflict":"reject"}"#, &["debounce", "on_conflict"]),
    (r#"{"debounce":{"wait":"PT1S"},"on_conflict":"replace"}"#, &["debounce", "on_conflict"]),
    (r#"{"debounce":{"wait":"PT1S"},"replace":["args"]}"#, &["debounce", "replace"]),
    (r#"{"debounce":{"wait":"PT1S"},"states":"all"}"#, &["debounce", "states"]),
    (r#"{"debounce":{"wait":"PT1S"},"states":["scheduled","completed"]}"#, &["states", "completed"]),
    (r#"{"debounce":{"wait":"PT1S"},"states":["available"]}"#, &["debounce", "scheduled"]),
    (r#"{"debounce":{}}"#, &["wait"]),
    (r#"{"debounce":{"max_wait":"PT1S"}}"#, &["wait"]),
    (r#"{"debounce":{"wait":null}}"#, &["wait"]),
    (r#"{"debounce":{"wait":0}}"#, &["wait"]),
    (r#"{"debounce":{"wait":-1}}"#, &["wait"]),
    (r#"{"debounce":{"wait":1.5}}"#, &["wait"]),
    (r#"{"debounce":{"wait":"PT0S"}}"#, &["wait"]),
    (r#"{"debounce":{"wait":"P"}}"#, &["wait"]),
    (r#"{"debounce":{"wait":"soon"}}"#, &["wait"]),
    (r#"{"debounce":{"wait":"infinity"}}"#, &["wait"]),
    (r#"{"debounce":{"wait":true}}"#, &["wait"]),
    (r#"{"debounce":{"wait":"PT1S","max_wait":0}}"#, &["max_wait"]),
    (r#"{"debounce":{"wait":"PT1S","max_wait":"infinity"}}"#, &["max_wait"]),
    (r#"{"debounce":{"wait":"PT1S","max_wait":[]}}"#, &["max_wait"]),
    (r#"{"debounce":{"wait":"PT1S","maxwait":"PT2S"}}"#, &["maxwait", "max_wait"]),
    (r#"{"debounce":{"waits":"PT1S"}}"#, &["waits", "wait"]),
    (r#"{"debounce":"PT1S"}"#, &["debounce"]),
    (r#"{"debounce":5}"#, &["debounce"]),
    (r#"{"debounce":[]}"#, &["debounce"]),
    (r#"{"while_active":"queue_last"}"#, &["queue_last", "queue_latest"]),
    (r#"{"while_active":"QUEUE_LATEST"}"#, &["while_active"]),
    (r#"{"while_active":true}"#, &["while_active"]),
    (r#"{"while_active":{}}"#, &["while_active"]),
    (r#"{"while_active":"queue_latest","replace":["args"]}"#, &["while_active", "replace"]),
    (r#"{"while_active":"queue_latest","states":["active","available"]}"#, &["while_active", "pending"]),
    (r#"{"while_active":"queue_latest","states":["pending","available"]}"#, &["while_active", "active"]),
    (
        r#"{"while_active":"queue_latest","period":"PT1H","period_from":"scheduled_at"}"#,
        &["while_active", "scheduled_at"],
    ),
    (r#"{"debonce":{"wait":"PT1S"}}"#, &["debonce", "debounce"]),
    (r#"{"while_activ":"queue_latest"}"#, &["while_activ", "while_active"]),
];

/// An attribute beside a policy that it contradicts, and the words that the refusal must contain.
const BESIDE: &[(&str, &str, &[&str])] = &[
    (
        r#"{"debounce":{"wait":"PT1S"}}"#,
        "\"scheduled_at\":\"2099-01-01T00:00:00Z\"",
        &["scheduled_at", "debounce"],
    ),
    (r#"{"debounce":{"wait":"PT1S"}}"#, "\"delay_until\":\"+PT5M\"", &["delay_until", "debounce"]),
    (r#"{"debounce":{"wait":"PT1S"}}"#, "\"pending\":true", &["pending", "debounce"]),
    (r#"{"while_active":"queue_latest"}"#, "\"pending\":true", &["pending", "while_active"]),
    (
        r#"{"debounce":{"wait":"PT1S"}}"#,
        "\"options\":{\"scheduled_at\":\"+PT5M\"}",
        &["scheduled_at", "debounce"],
    ),
];

#[test]
fn parts_that_contradict_each_other_are_refused_by_name() {
    let server = Server::start();
    let mut client = server.client();
    let alone = BAD.iter().map(|(policy, words)| (format!(r#""unique":{policy}"#), *words));
    let beside =
        BESIDE.iter().map(|(policy, other, words)| (format!(r#""unique":{policy},{other}"#), *words));
    for (members, words) in alone.chain(beside) {
        let answer =
            client.send(&Request::post("/ojs/v1/jobs", format!(r#"{{"type":"a.b","args":[],{members}}}"#)));
        assert_eq!(answer.status, 400, "{members}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        for word in words {
            assert!(answer.message().contains(word), "{members}: no {word} in {:?}", answer.message());
        }
    }
    for state in ["available", "scheduled", "pending"] {
        assert_eq!(client.count("default", state), 0, "{state}");
    }
}

#[test]
fn a_part_of_a_policy_that_stands_outside_of_it_is_sent_there() {
    let server = Server::start();
    let mut client = server.client();
    for (name, value) in [("debounce", json!({"wait": "PT1S"})), ("while_active", json!("queue_latest"))] {
        let flat = client.enqueue(&job("a.b").with(name, value.clone()));
        let nested = client.enqueue(&job("a.b").with("options", json!({name: value})));
        for answer in [flat, nested] {
            answer.is_refusal(400, "invalid_request");
            let message = answer.message();
            assert!(message.contains(name) && message.contains("unique"), "{message:?}");
        }
    }
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn what_contradicts_nothing_is_taken() {
    let server = Server::start();
    let mut client = server.client();
    let good = [
        json!({"while_active": "queue_latest", "debounce": {"wait": 60}}),
        json!({"debounce": {"wait": "PT1M"}, "states": ["scheduled"]}),
        json!({"debounce": {"wait": "PT1M", "max_wait": "PT30S"}}),
        json!({"debounce": {"wait": "PT1M", "max_wait": null}, "replace": null, "on_conflict": null}),
        json!({"debounce": null, "while_active": null, "on_conflict": "ignore"}),
        json!({"while_active": "queue_latest", "states": "all"}),
        json!({"debounce": {"wait": "PT1M"}, "period": "PT1H", "period_from": "scheduled_at"}),
    ];
    for (number, policy) in good.iter().enumerate() {
        client.create(&job(&format!("good.n{number}")).unique(policy.clone()));
    }
    let later = json!({"while_active": "queue_latest"});
    client.create(&job("good.later").unique(later).with("scheduled_at", FAR_FUTURE));
}
