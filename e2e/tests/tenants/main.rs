//! Tenants over HTTP: whatever belongs to one is not there for another, in every store.

use e2e::{Answer, Client, Launch, Request, Server};
use serde_json::{Value, json};

#[track_caller]
fn send(client: &mut Client, tenant: &str, method: &str, path: &str, body: &Value) -> Answer {
    let request = Request::new(method, &format!("/ojs/v1{path}")).header("X-OJS-Tenant", tenant);
    let request = if body.is_null() {
        request
    } else {
        request.header("Content-Type", "application/json").body(body.to_string())
    };
    client.send(&request)
}

#[track_caller]
fn enqueue(client: &mut Client, tenant: &str, queue: &str) -> String {
    let job =
        json!({"type": "report.build", "args": [], "queue": queue, "unique": {"keys": ["type", "args"]}});
    let answer = send(client, tenant, "POST", "/jobs", &job);
    answer.is(201);
    answer["job"]["id"].as_str().unwrap_or_default().to_owned()
}

#[track_caller]
fn take(client: &mut Client, tenant: &str, queue: &str) {
    let wish = json!({"queues": [queue], "worker_id": "w-1"});
    send(client, tenant, "POST", "/workers/fetch", &wish).is(200);
}

#[test]
fn deeds_on_many_jobs_pass_over_those_of_others() {
    let server = Server::start();
    let mut client = server.client();
    let (of_acme, own) = (enqueue(&mut client, "acme", "default"), enqueue(&mut client, "other", "default"));
    let named = json!({"job_ids": [of_acme, own]});
    let answer = send(&mut client, "other", "POST", "/jobs/bulk/cancel", &named);
    assert_eq!((&answer["succeeded"], &answer["failed"]), (&json!(1), &json!(1)), "{}", answer.body);
    let filter = json!({"filter": {"queue": "default"}});
    let answer = send(&mut client, "other", "POST", "/jobs/bulk/cancel", &filter);
    assert_eq!(answer["total"], 0, "{}", answer.body);
    assert_eq!((client.state(&of_acme), client.state(&own)), ("available".into(), "cancelled".into()));
    let answer = send(&mut client, "acme", "POST", "/jobs/bulk/cancel", &filter);
    assert_eq!(answer["succeeded"], 1, "{}", answer.body);
}

#[test]
fn a_heartbeat_extends_no_lease_of_another_tenant() {
    let server = Server::start();
    let mut client = server.client();
    let id = enqueue(&mut client, "acme", "default");
    take(&mut client, "acme", "default");
    let beat = json!({"worker_id": "w-1", "active_jobs": [id], "visibility_timeout_ms": 3_600_000});
    let answer = send(&mut client, "other", "POST", "/workers/heartbeat", &beat);
    assert_eq!((&answer.is(200)["jobs_extended"], &answer["lost_jobs"]), (&json!([]), &json!([id])));
    let answer = send(&mut client, "acme", "POST", "/workers/heartbeat", &beat);
    assert_eq!((&answer.is(200)["jobs_extended"], &answer["lost_jobs"]), (&json!([id]), &json!([])));
}

#[test]
fn a_key_is_taken_from_no_job_of_another_tenant() {
    let server = Server::start();
    let mut client = server.client();
    let id = enqueue(&mut client, "acme", "default");
    let job = json!({"type": "report.build", "args": [], "unique": {"keys": ["type", "args"]}});
    let key = send(&mut client, "acme", "POST", "/unique/explain", &job)["key"].as_str().map(str::to_owned);
    let path = format!("/unique/keys/{}", key.unwrap_or_default());
    let before = client.job(&id);
    for (method, path) in [("GET", path.clone()), ("POST", format!("{path}/release"))] {
        send(&mut client, "other", method, &path, &Value::Null).is(404);
        assert_eq!(client.job(&id), before);
        send(&mut client, "acme", method, &path, &Value::Null).is(200);
    }
}

#[test]
fn workflows_and_recurring_jobs_of_another_tenant_are_not_there() {
    let server = Server::start();
    let mut client = server.client();
    let chain = json!({"type": "chain", "steps": [{"type": "a", "args": []}]});
    let workflow = send(&mut client, "acme", "POST", "/workflows", &chain);
    let workflow = format!("/workflows/{}", workflow["workflow"]["id"].as_str().unwrap_or_default());
    let nightly = json!({"name": "nightly", "expression": "0 3 * * *", "type": "a", "args": []});
    send(&mut client, "acme", "POST", "/cron", &nightly).is(201);
    send(&mut client, "other", "POST", "/cron", &nightly).is(409);
    for path in [&*workflow, "/cron/nightly"] {
        for method in ["GET", "DELETE"] {
            send(&mut client, "other", method, path, &Value::Null).is(404);
            send(&mut client, "acme", method, path, &Value::Null).is(200);
        }
    }
}

#[test]
fn where_a_tenant_is_required_a_job_is_not_touched_without_one() {
    let server = Launch::default().args(&["--require-tenant"]).start();
    let mut client = server.client();
    let id = enqueue(&mut client, "acme", "default");
    let priority = json!({"priority": 7}).to_string();
    let patch = Request::new("PATCH", &format!("/ojs/v1/jobs/{id}"));
    client.send(&patch.header("Content-Type", "application/json").body(priority)).is(400);
    client.post("/ojs/v1/jobs/results", &json!({"ids": [id]})).is(400);
    client.post("/ojs/v1/jobs/bulk/cancel", &json!({"job_ids": [id]})).is(400);
    let job = send(&mut client, "acme", "GET", &format!("/jobs/{id}"), &Value::Null);
    assert_eq!(
        (&job["job"]["state"], &job["job"]["priority"]),
        (&json!("available"), &json!(0)),
        "{}",
        job.body
    );
}
