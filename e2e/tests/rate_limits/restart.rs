//! Limits outlive the server.

use e2e::Server;
use serde_json::json;

use crate::{QUEUE, create};

#[test]
fn slots_and_windows_outlive_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    create(&mut client, 3, &json!({"key": "slots", "concurrency": 1}));
    create(&mut client, 3, &json!({"key": "window", "rate": {"limit": 1, "period": "PT1H"}}));
    let running = client.fetch(QUEUE, 9);
    assert_eq!(running.len(), 2);
    client.ack(&running[1]).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.fetch(QUEUE, 9).len(), 0, "neither is free");
    client.ack(&running[0]).is(200);
    let next = client.fetch(QUEUE, 9);
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].job["rate_limit"]["key"], "slots");
    let shown = client.get("/ojs/v1/rate-limits/window");
    assert_eq!(shown.is(200)["rate"]["current_count"], 1);
}
