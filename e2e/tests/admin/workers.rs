//! Workers: known, told, and given nothing.

use e2e::{Server, job};
use serde_json::json;

#[test]
fn a_worker_that_is_told_to_be_quiet_hears_it_and_gets_no_jobs() {
    let server = Server::start();
    let mut client = server.client();
    let wish = json!({"queues": ["default"], "worker_id": "w 1/a", "count": 1});
    client.post("/ojs/v1/workers/fetch", &wish).is(200);
    let listed = client.get("/ojs/v1/admin/workers");
    assert_eq!(
        (&listed.is(200)["summary"]["running"], &listed["items"][0]["id"]),
        (&json!(1), &json!("w 1/a"))
    );
    client.create(&job("work"));
    let path = "/ojs/v1/admin/workers/w%201%2Fa";
    client.post(&format!("{path}/quiet"), &json!({})).is(200);
    assert_eq!(client.post("/ojs/v1/workers/fetch", &wish).is(200)["jobs"], json!([]));
    let beat = client.post("/ojs/v1/workers/heartbeat", &json!({"worker_id": "w 1/a"}));
    assert_eq!(beat.is(200)["state"], "quiet");
    client.post("/ojs/v1/workers/register", &json!({"worker_id": "w 1/a"})).is(200);
    let taken = client.post("/ojs/v1/workers/fetch", &wish);
    assert_eq!(taken.is(200).list("/jobs").len(), 1, "it has started anew");
    assert_eq!(client.get(path).is(200).list("/jobs").len(), 1);
}
