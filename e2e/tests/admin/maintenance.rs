//! Maintenance keeps jobs out and lets workers finish.

use e2e::{Server, job};
use serde_json::json;

const MAINTENANCE: &str = "/ojs/v1/admin/system/maintenance";

#[test]
fn jobs_are_kept_out_until_it_is_over() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("held"));
    client.create(&job("waiting"));
    let held = client.fetch("default", 1).remove(0);
    let on = json!({"enabled": true, "reason": "moving", "estimated_duration": "PT10S"});
    assert_eq!(client.post(MAINTENANCE, &on).is(200)["maintenance"], true);
    let refused = client.enqueue(&job("late"));
    refused.is_refusal(503, "backend_unavailable");
    let seconds: u64 = refused.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or_default();
    assert!((1..=10).contains(&seconds), "{seconds}");
    assert_eq!(client.fetch("default", 1).len(), 0);
    client.ack(&held).is(200);
    client.post(MAINTENANCE, &json!({"enabled": false})).is(200);
    client.create(&job("late"));
    assert_eq!(client.fetch("default", 2).len(), 2);
}
