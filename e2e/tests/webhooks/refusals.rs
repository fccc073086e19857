//! Where a server does not send.

use e2e::clock::{self, SOON};
use e2e::receiver::{Manner, Receiver};
use e2e::{Launch, Request, job};
use serde_json::json;

use super::{SUBSCRIPTIONS, launch, subscribe, text};

#[test]
fn a_server_that_was_not_told_so_does_not_send_to_its_neighbours() {
    let server = Launch::default().start();
    let mut client = server.client();
    for url in [
        "http://127.0.0.1/",
        "http://localhost:8080/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/",
        "http://user@example.com/",
        "file:///etc/passwd",
    ] {
        let body = json!({"url": url, "events": ["*"]}).to_string();
        client.send(&Request::post(SUBSCRIPTIONS, body)).is_refusal(400, "invalid_request");
    }
}

#[test]
fn a_subscription_from_more_trusting_times_is_not_served() {
    let home = tempfile::TempDir::new().unwrap();
    let data = home.path().join("data");
    let receiver = Receiver::start();
    let mut trusting = Launch::default().data(&data).args(&["--webhook-allow-private"]).start();
    let subscription = subscribe(&mut trusting.client(), &receiver, &["*"]);
    trusting.signal("TERM");
    trusting.wait(SOON);
    let strict = Launch::default().data(&data).start();
    let mut client = strict.client();
    client.create(&job("a.b"));
    let path = format!("/ojs/v1/webhooks/deliveries?subscription_id={}", text(&subscription["id"]));
    let failed = || {
        let mut client = strict.client();
        let error = client.get(&path)["deliveries"][0]["last_attempt"]["error"].clone();
        error.as_str().map(str::to_owned)
    };
    let error = clock::eventually("it is tried", SOON, failed);
    assert_eq!(error, "the host has an address that is not on the open internet");
    assert!(receiver.arrivals().is_empty());
}

#[test]
fn redirects_are_not_followed() {
    let server = launch().start();
    let receiver = Receiver::start();
    receiver.behave(Manner::Answers(302));
    let mut client = server.client();
    let subscription = subscribe(&mut client, &receiver, &["*"]);
    let tested =
        client.send(&Request::post(&format!("{SUBSCRIPTIONS}/{}/test", text(&subscription["id"])), ""));
    assert_eq!((&tested.is(200)["success"], &tested["status_code"]), (&false.into(), &302.into()));
    assert_eq!(receiver.arrivals().len(), 1);
}
