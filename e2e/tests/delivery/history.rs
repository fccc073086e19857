//! What is known of the past of a job, and of its relatives.

use e2e::{Server, job};
use serde_json::{Value, json};

use crate::redelivered;

fn kinds(history: &Value) -> Vec<&str> {
    let events = history["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    events.iter().filter_map(|event| event["event_type"].as_str()).collect()
}

#[test]
fn a_job_tells_of_its_past_and_names_what_it_does_not_keep() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("work").retried(1, 2));
    let path = format!("/ojs/v1/jobs/{id}/history");
    let fresh = client.get(&path).is(200).json.clone();
    assert_eq!(kinds(&fresh), ["job.created", "job.state_changed"]);
    assert_eq!(fresh["omitted"], json!([]), "{fresh}");
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    let again = redelivered(&mut client, "default");
    let running = client.get(&path).is(200).json.clone();
    let expected = ["job.created", "job.attempt_failed", "job.state_changed", "job.attempt_started"];
    assert_eq!(kinds(&running), expected, "{running}");
    assert_eq!(running["events"][1]["data"]["error"]["message"], "it failed");
    client.ack(&again).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    let ended = client.get(&path).is(200).json.clone();
    assert_eq!(kinds(&ended).last(), Some(&"job.attempt_completed"), "{ended}");
    assert_eq!(ended["omitted"], json!(["earlier_starts", "workers"]));
    let page = client.get(&format!("{path}?limit=2&cursor=2")).is(200).json.clone();
    assert_eq!((page["events"].as_array().map(Vec::len), &page["next_cursor"]), (Some(2), &json!("4")));
    client.get(&format!("{path}?cursor=x")).is_refusal(400, "invalid_request");
    client.get("/ojs/v1/jobs/nobody/history").is_refusal(404, "not_found");
}

#[test]
fn steps_of_a_workflow_name_those_before_and_behind_them() {
    let server = Server::start();
    let mut client = server.client();
    let steps: Vec<Value> = (0..3).map(|_| job("work").json()).collect();
    let started = client.post("/ojs/v1/workflows", &json!({"type": "chain", "steps": steps}));
    let workflow = started.is(201).text("/workflow/id").to_owned();
    let first = client.fetch_one("default");
    let lineage = client.get(&format!("/ojs/v1/jobs/{}/lineage", first.id)).is(200).json.clone();
    assert_eq!((&lineage["parent_id"], &lineage["root_id"]), (&Value::Null, &json!(first.id)), "{lineage}");
    client.ack(&first).is(200);
    let second = client.fetch_one("default");
    assert_eq!(lineage["children"], json!([{"job_id": second.id}]));
    let lineage = client.get(&format!("/ojs/v1/jobs/{}/lineage", second.id)).is(200).json.clone();
    assert_eq!((&lineage["parent_id"], &lineage["workflow_id"]), (&json!(first.id), &json!(workflow)));
    assert_eq!(lineage["root_id"], json!(first.id));
    client.get("/ojs/v1/jobs/nobody/lineage").is_refusal(404, "not_found");
}
