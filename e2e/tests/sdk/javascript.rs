//! The JavaScript SDK, 0.4.0. It reads answers as they are, so a member of the wrong kind shows late; a body that is no
//! JSON at all is a broken connection to it.

use serde_json::{Value, json};

use crate::reading::{reads, reads_each};
use crate::sdk::Sdk;

const JOB: &[&str] = &[
    "specversion text",
    "id text",
    "type text",
    "queue text",
    "args list",
    "meta? object",
    "priority? integer",
    "state? state",
    "attempt? integer",
    "max_attempts? integer",
    "created_at? time",
    "scheduled_at? time",
    "expires_at? time",
    "tags? texts",
    "retry? object",
    "unique? object",
    "error? object",
    "errors? list",
];
const WORKFLOW: &[&str] = &["id text", "type text", "name? text", "state text", "metadata object"];
const COUNTS: &[&str] =
    &["created_at time", "job_count integer", "completed_count integer", "failed_count integer"];
const CRON: &[&str] = &[
    "name text",
    "cron text",
    "timezone? text",
    "type text",
    "args list",
    "status text",
    "options? object",
    "next_run_at? time",
    "last_run_at? time",
    "created_at time",
];

#[test]
fn it_produces() {
    let mut sdk = Sdk::of_three();
    let made = sdk.post(
        "/ojs/v1/jobs",
        &json!({"type": "mail.send", "args": [{"to": "ada"}], "meta": {"trace": 1}, "options": {
            "queue": "mail", "priority": 7, "timeout_ms": 30_000, "delay_until": "2099-01-01T00:00:00.000Z",
            "expires_at": "2099-01-02T00:00:00.000Z", "tags": ["x"], "visibility_timeout_ms": 60_000,
            "retry": {"max_attempts": 2, "backoff_coefficient": 1.5, "initial_interval": "PT0.2S", "max_interval": "PT5S",
                "jitter": false, "non_retryable_errors": ["bad.*"], "on_exhaustion": "dead_letter"}}}),
    );
    reads(&made.is(201)["job"], JOB);
    assert_eq!(made["job"]["state"], "scheduled");
    assert_eq!(made["job"]["retry"]["on_exhaustion"], "dead_letter");
    let id = made.id();
    reads(&sdk.get(&format!("/ojs/v1/jobs/{id}")).is(200)["job"], JOB);
    assert_eq!(sdk.delete(&format!("/ojs/v1/jobs/{id}")).is(200)["job"]["state"], "cancelled");
    sdk.delete(&format!("/ojs/v1/jobs/{id}")).is_refusal(409, "conflict");
    let batch = sdk.post(
        "/ojs/v1/jobs/batch",
        &json!({"jobs": [{"type": "mail.send", "args": ["a", 1, null]},
        {"type": "mail.send", "args": [], "options": {"queue": "mail"}}]}),
    );
    reads_each(&batch.is(201)["jobs"], JOB);
}

/// It writes its own message out of these two members.
#[test]
fn it_says_what_was_not_found() {
    let mut sdk = Sdk::of_three();
    for (path, kind, name) in [("/ojs/v1/jobs/a%2Fb", "job", "a/b"), ("/ojs/v1/cron/none", "cron", "none")] {
        let refused = sdk.get(path);
        reads(&refused.is_error(404)["error"]["details"], &["resource_type text", "resource_id text"]);
        assert_eq!(refused["error"]["details"], json!({"resource_type": kind, "resource_id": name}));
    }
}

#[test]
fn its_key_names_members_of_the_arguments() {
    let mut sdk = Sdk::of_three();
    let body = |number: u32, strategy: &str| {
        json!({"type": "mail.send", "args": [{"to": "ada", "number": number}],
            "options": {"unique": {"key": ["to"], "period": "PT1H", "on_conflict": strategy}}})
    };
    let id = sdk.create(&body(1, "reject"));
    sdk.post("/ojs/v1/jobs", &body(2, "reject")).is_refusal(409, "duplicate");
    assert_eq!(sdk.post("/ojs/v1/jobs", &body(3, "ignore")).is(200).id(), id);
    let replaced = sdk.post("/ojs/v1/jobs", &body(4, "replace"));
    assert_eq!(replaced.is(201)["job"]["args"][0]["number"], 4);
    // Nothing but the type.
    let bare = json!({"type": "mail.purge", "args": [1], "options": {"unique": {}}});
    sdk.create(&bare);
    sdk.post("/ojs/v1/jobs", &bare).is_refusal(409, "duplicate");
}

#[test]
fn it_works_fails_and_beats() {
    let mut sdk = Sdk::of_three();
    let retry = json!({"max_attempts": 2, "initial_interval": "PT0.001S", "jitter": false});
    let id = sdk.create(&json!({"type": "a.b", "args": [{}], "options": {"queue": "w", "retry": retry}}));
    let fetch = json!({"queues": ["w", "default"], "count": 10, "worker_id": "worker_1", "visibility_timeout_ms": 30_000});
    let fetched = sdk.fetch(&fetch);
    reads(&fetched, JOB);
    // It would take this member for milliseconds.
    assert_eq!(fetched["timeout"], Value::Null);
    let beat = json!({"worker_id": "worker_1", "state": "running", "active_jobs": 1, "active_job_ids": [id],
        "hostname": "unknown", "pid": 7, "queues": ["w", "default"], "concurrency": 10, "labels": []});
    let beaten = sdk.post("/ojs/v1/workers/heartbeat", &beat);
    assert_eq!(beaten.is(200)["state"], "running");
    assert_eq!(beaten["jobs_extended"], json!([id]));
    sdk.post(
        "/ojs/v1/workers/progress",
        &json!({"job_id": id, "percentage": 10, "message": "at 1", "data": {"i": 1}}),
    )
    .is(200);
    let error = json!({"code": "handler_error", "message": "no", "retryable": true, "details": {"stack": "Error: no"}});
    assert_eq!(sdk.nack(&id, &error).is(200)["state"], "retryable");
    assert_eq!(sdk.fetch(&fetch)["attempt"], 2);
    sdk.ack(&id, &json!([1, 2])).is(200);
    let shown = sdk.get(&format!("/ojs/v1/jobs/{id}"));
    assert_eq!(shown["job"]["result"], json!([1, 2]));
    reads_each(&shown["job"]["errors"], &["code text", "message text", "retryable flag", "details object"]);
}

#[test]
fn its_steps_have_policies_in_camel_case_and_steps_of_their_own() {
    let mut sdk = Sdk::of_three();
    let step = |kind: &str| json!({"type": kind, "args": []});
    let retry = json!({"maxAttempts": 7, "initialInterval": "PT1S"});
    let group = json!({"type": "group", "jobs": [step("b"), step("c")]});
    let first =
        json!({"type": "a", "args": [{}], "options": {"retry": retry, "timeout_ms": 1000, "tags": ["t"]}});
    let chain = json!({"type": "chain", "name": "order", "steps": [first, group, step("d")]});
    let made = sdk.post("/ojs/v1/workflows", &chain);
    reads(&made.is(201).json, WORKFLOW);
    reads(&made["metadata"], COUNTS);
    assert_eq!(made["metadata"]["job_count"], 4);
    let job = made.text("/steps/0/job_id").to_owned();
    assert_eq!(sdk.get(&format!("/ojs/v1/jobs/{job}"))["job"]["max_attempts"], 7);
    let batch = json!({"type": "batch", "jobs": [step("a")], "callbacks": {"on_complete": step("z"), "on_failure": step("y")}});
    sdk.post("/ojs/v1/workflows", &batch).is(201);
    let path = format!("/ojs/v1/workflows/{}", made.text("/id"));
    reads(&sdk.get(&path).is(200).json, WORKFLOW);
    sdk.delete(&path).is(200);
    assert_eq!(sdk.get(&path)["state"], "cancelled");
}

#[test]
fn it_looks_after_queues_and_dead_letters() {
    let mut sdk = Sdk::of_three();
    let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let options = json!({"queue": "q-1", "retry": retry});
    let ids = [1, 2].map(|n| sdk.create(&json!({"type": "a.b", "args": [n], "options": options})));
    sdk.post("/ojs/v1/workers/fetch", &json!({"queues": ["q-1"], "count": 2, "worker_id": "w"})).is(200);
    for id in &ids {
        sdk.nack(id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    }
    let letters = sdk.get("/ojs/v1/dead-letter");
    reads_each(
        &letters.is(200)["jobs"],
        &["id text", "type text", "queue text", "args list", "discarded_at? time"],
    );
    reads(&letters["jobs"][0]["error"], &["code text", "message text"]);
    sdk.post_nothing(&format!("/ojs/v1/dead-letter/{}/retry", ids[0])).is(200);
    sdk.delete(&format!("/ojs/v1/dead-letter/{}", ids[1])).is(200);
    reads_each(&sdk.get("/ojs/v1/queues").is(200)["queues"], &["name text", "paused flag"]);
    sdk.post_nothing("/ojs/v1/queues/q-1/pause").is(200);
    let stats = sdk.get("/ojs/v1/queues/q-1/stats");
    let counts = [
        "available integer",
        "active integer",
        "scheduled integer",
        "retryable integer",
        "completed integer",
    ];
    reads(&stats.is(200).json, &counts);
    reads(&stats.json, &["name text", "discarded integer", "paused flag"]);
    assert_eq!((&stats["available"], &stats["paused"]), (&json!(1), &json!(true)));
    sdk.post_nothing("/ojs/v1/queues/q-1/resume").is(200);
}

#[test]
fn it_registers_recurring_jobs_and_schemas() {
    let mut sdk = Sdk::of_three();
    let entry = |name: &str| {
        json!({"name": name, "cron": "0 0 1 1 *", "type": "a.b", "args": [{"a": 1}], "timezone": "Europe/Berlin",
            "meta": {"m": 1}, "options": {"queue": "q", "priority": 3, "tags": ["t"], "retry": {"max_attempts": 2}}})
    };
    for name in ["one", "two", "three"] {
        reads(&sdk.post("/ojs/v1/cron", &entry(name)).is(201)["cron_job"], CRON);
    }
    let page = sdk.get("/ojs/v1/cron?page=2&per_page=2");
    reads_each(&page.is(200)["cron_jobs"], CRON);
    reads(&page["pagination"], &["total integer", "page integer", "per_page integer"]);
    assert_eq!((&page["cron_jobs"][0]["name"], &page["pagination"]["page"]), (&json!("two"), &json!(2)));
    sdk.delete("/ojs/v1/cron/one").is(200);
    let uri = "urn:test:mail:1";
    let schema = json!({"uri": uri, "type": "mail.send", "version": "1.0.0", "schema": {"type": "array"}});
    let members = ["uri text", "type text", "version text"];
    reads(&sdk.post("/ojs/v1/schemas", &schema).is(201)["schema"], &members);
    reads_each(&sdk.get("/ojs/v1/schemas?page=1&per_page=5").is(200)["schemas"], &members);
    let path = "/ojs/v1/schemas/urn%3Atest%3Amail%3A1";
    assert_eq!(sdk.get(path).is(200)["schema"]["schema"], json!({"type": "array"}));
    sdk.delete(path).is(200);
    reads(&sdk.get("/ojs/v1/health").is(200).json, &["status text", "version text", "backend object"]);
    sdk.get("/ojs/manifest").is(200);
}

/// Its durable jobs put the prefix of all paths in front of a path that has it.
#[test]
fn its_checkpoints_are_found_where_it_looks() {
    let mut sdk = Sdk::of_three();
    let id = sdk.create(&json!({"type": "a.b", "args": []}));
    sdk.post("/ojs/v1/workers/fetch", &json!({"queues": ["default"], "count": 1, "worker_id": "w"})).is(200);
    let path = format!("/ojs/v1/ojs/v1/checkpoints/{id}");
    assert_eq!(sdk.get(&format!("{path}/resume")).is(200)["has_checkpoint"], false);
    let metadata = json!({"_replay_log": "[{\"seq\":0}]", "attempt": "1"});
    sdk.post(&path, &json!({"state": {"r": 1}, "step_index": 1, "metadata": metadata})).is(200);
    let kept = sdk.get(&format!("{path}/resume"));
    assert_eq!(kept.is(200)["has_checkpoint"], true);
    assert_eq!(kept["checkpoint"]["metadata"], metadata);
    sdk.delete(&path).is(200);
}

/// It encodes the colon.
#[test]
fn it_listens() {
    let mut sdk = Sdk::of_three();
    let id = sdk.create(&json!({"type": "a.b", "args": []}));
    let mut stream = sdk.listen(&format!("job%3A{id}"));
    sdk.delete(&format!("/ojs/v1/jobs/{id}")).is(200);
    let mut told = stream.until("job.state_changed");
    // That it became available may still have been on its way when the stream began.
    while told.data["to"] == "available" {
        told = stream.until("job.state_changed");
    }
    reads(&told.data, &["job_id text", "queue text", "from text", "to text", "timestamp time"]);
    assert_eq!(told.data["to"], "cancelled");
    assert!(told.id.starts_with("evt_"), "{told:?}");
}
