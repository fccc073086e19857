//! The streams as the official SDKs read them.
//!
//! Two ways to read stand here, in our words: that of the JavaScript and the Python SDK, which forget everything at an
//! empty line, and that of the Rust SDK, which looks for LF in a growing text and keeps a name until the next one. Both
//! split at LF and know no CR.

use e2e::{Listener, Server, job};
use serde_json::Value;

use crate::life;

#[derive(Debug, Clone, Default, PartialEq)]
struct Event {
    id: String,
    kind: String,
    data: String,
}

fn by_lines(text: &str) -> Vec<Event> {
    let (mut events, mut event) = (Vec::new(), Event::default());
    for line in text.split('\n') {
        if line.is_empty() {
            let whole = std::mem::take(&mut event);
            if !whole.data.is_empty() {
                events.push(whole);
            }
        } else if let Some(value) = line.strip_prefix("event:") {
            value.trim_start().clone_into(&mut event.kind);
        } else if let Some(value) = line.strip_prefix("id:") {
            value.trim_start().clone_into(&mut event.id);
        } else if let Some(value) = line.strip_prefix("data:") {
            event.data.push_str(value.trim_start());
        }
    }
    events
}

fn by_search(text: &str) -> Vec<Event> {
    let (mut events, mut event, mut rest) = (Vec::new(), Event::default(), text);
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        match line.split_once(':') {
            None if !event.data.is_empty() => events.push(std::mem::take(&mut event)),
            None => event.kind.clear(),
            Some(("event", value)) => value.trim_start().clone_into(&mut event.kind),
            Some(("id", value)) => value.trim_start().clone_into(&mut event.id),
            Some(("data", value)) => event.data.push_str(value.trim_start()),
            Some(_) => {}
        }
    }
    events
}

/// The channel as JavaScript and Rust send it, and as Python does.
#[test]
fn both_ways_of_reading_tell_the_same() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    for channel in [format!("job%3A{id}"), format!("job:{id}")] {
        let mut stream = Listener::open(&server, &format!("/ojs/v1/events/stream?channel={channel}"));
        if client.state(&id) == "available" {
            let delivery = client.fetch_one("default");
            client.ack(&delivery).is(200);
        }
        let text = stream.rest();
        assert!(!text.contains('\r'), "{text}");
        let (one, other) = (by_lines(&text), by_search(&text));
        assert_eq!(one, other);
        let last = one.last().expect("an event");
        let data: Value = serde_json::from_str(&last.data).expect("JSON");
        // What the example of the JavaScript SDK prints.
        assert_eq!(data["to"], "completed");
        assert!(
            one.iter().all(|event| event.id.starts_with("evt_") && event.kind.starts_with("job.")),
            "{one:?}"
        );
    }
}

#[test]
fn a_result_on_several_lines_is_one_line_of_data() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let mut stream = Listener::open(&server, &format!("/ojs/v1/jobs/{id}/events"));
    let delivery = client.fetch_one("default");
    let body = format!("{{\"job_id\":\"{}\",\"result\":{{\r\n  \"a\": [1.0,\n2]\n}}}}", delivery.id);
    client.send(&e2e::Request::post("/ojs/v1/workers/ack", body)).is(200);
    let events = by_lines(&stream.rest());
    let last = events.last().expect("an event");
    assert!(last.data.ends_with(r#""result":{    "a": [1.0, 2] }}"#), "{last:?}");
    life(&mut client, "default");
}
