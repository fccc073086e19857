//! Webhooks against the built server: events arrive, signed and in order, whatever becomes of the endpoint or the server.

mod crash;
mod delivery;
mod fleet;
mod refusals;

use e2e::receiver::{Arrival, Receiver};
use e2e::{Client, Launch, Request};
use serde_json::{Value, json};

const SUBSCRIPTIONS: &str = "/ojs/v1/webhooks/subscriptions";

/// A server that may send to this machine.
fn launch() -> Launch {
    Launch::default().args(&["--webhook-allow-private"])
}

/// Subscribes; shows the subscription.
#[track_caller]
fn subscribe(client: &mut Client, receiver: &Receiver, events: &[&str]) -> Value {
    let body = json!({"url": receiver.url(), "events": events}).to_string();
    client.send(&Request::post(SUBSCRIPTIONS, body)).is(201).json.clone()
}

/// How the deliveries of a subscription go.
#[track_caller]
fn state(client: &mut Client, subscription: &Value) -> Value {
    client.get(&format!("{SUBSCRIPTIONS}/{}", text(&subscription["id"]))).is(200).json["deliveries"].clone()
}

#[track_caller]
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// What happened to which job, as far as it arrived, each once.
fn told(arrivals: &[Arrival]) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    let mut told = Vec::new();
    for arrival in arrivals {
        let name = arrival.header("x-ojs-delivery-id").to_owned();
        if !seen.contains(&name) {
            let event = arrival.event();
            told.push((text(&event["subject"]).to_owned(), text(&event["type"]).to_owned()));
            seen.push(name);
        }
    }
    told
}
