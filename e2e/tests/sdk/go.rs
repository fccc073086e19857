//! The Go SDK, 0.4.0. It names the version of the candidate, writes spans in milliseconds and has no helper for events;
//! its types are strict, and one member of another kind loses the whole answer.

use serde_json::{Value, json};

use crate::reading::{reads, reads_each};
use crate::sdk::Sdk;

const JOB: &[&str] = &[
    "id text",
    "type text",
    "state state",
    "queue text",
    "priority integer",
    "attempt integer",
    "max_attempts integer",
    "timeout_ms? integer",
    "tags? texts",
    "meta? object",
    "result? object",
    "error? object",
    "args list",
    "created_at? time",
    "enqueued_at? time",
    "started_at? time",
    "completed_at? time",
    "cancelled_at? time",
    "discarded_at? time",
    "previous_state? text",
];
const ERROR: &[&str] = &["code text", "message text", "retryable? flag", "details? object"];
const WORKFLOW: &[&str] = &["id text", "name? text", "state text", "created_at time", "steps list"];
const STEP: &[&str] =
    &["id text", "type text", "state text", "job_id text", "depends_on texts", "result? object"];
const PAGE: &[&str] = &["total integer", "limit integer", "offset integer", "has_more flag"];
const CRON: &[&str] = &[
    "name text",
    "cron text",
    "timezone text",
    "type text",
    "args list",
    "options? object",
    "meta? object",
    "status text",
    "last_run_at? time",
    "next_run_at? time",
    "created_at time",
];

fn fetch(queue: &str) -> Value {
    json!({"queues": [queue, "default"], "count": 1, "worker_id": "worker_host_1_2"})
}

#[test]
fn it_produces() {
    let mut sdk = Sdk::go();
    let made = sdk.post(
        "/ojs/v1/jobs",
        &json!({"type": "mail.send", "args": [{"to": "ada"}], "meta": {"m": 1}, "options": {
            "queue": "mail", "priority": 5, "timeout_ms": 30_000, "delay_until": "2098-01-01T00:00:00.123456789+02:00",
            "expires_at": "2099-01-01T00:00:00.123456789+02:00", "tags": ["x"], "visibility_timeout_ms": 60_000,
            "retry": {"max_attempts": 2, "initial_interval_ms": 200, "backoff_coefficient": 1.5, "max_interval_ms": 1000,
                "jitter": false, "non_retryable_errors": ["bad."]}}}),
    );
    reads(&made.is(201)["job"], JOB);
    assert_eq!(made["job"]["retry"]["initial_interval"], "PT0.2S");
    assert_eq!(made["job"]["retry"]["max_interval"], "PT1S");
    let path = format!("/ojs/v1/jobs/{}", made.id());
    reads(&sdk.get(&path).is(200)["job"], JOB);
    let cancelled = sdk.delete(&path);
    reads(&cancelled.is(200)["job"], JOB);
    assert_eq!(cancelled["job"]["previous_state"], "scheduled");
    sdk.delete(&path).is_refusal(409, "conflict");
    sdk.get("/ojs/v1/jobs/019539a4-b68c-7def-8000-1a2b3c4d5e6f").is_refusal(404, "not_found");
    // A job without arguments and options.
    let batch = sdk.post(
        "/ojs/v1/jobs/batch",
        &json!({"jobs": [{"type": "a.b", "args": [], "options": {"queue": "default"}}]}),
    );
    reads_each(&batch.is(201)["jobs"], JOB);
    assert_eq!(batch["count"], 1);
}

#[test]
fn its_key_names_members_of_the_arguments_and_its_period_is_in_milliseconds() {
    let mut sdk = Sdk::go();
    let body = |number: u32, strategy: &str| {
        json!({"type": "a.b", "args": [{"to": "ada", "number": number}], "options": {"queue": "default",
            "unique": {"key": ["to"], "period_ms": 3_600_000, "on_conflict": strategy}}})
    };
    let made = sdk.post("/ojs/v1/jobs", &body(1, "reject"));
    assert_eq!(made.is(201)["job"]["unique"]["period"], "PT1H");
    let refused = sdk.post("/ojs/v1/jobs", &body(2, "reject"));
    reads(
        &refused.is_refusal(409, "duplicate")["error"],
        &["retryable flag", "details object", "request_id text"],
    );
    assert_eq!(sdk.post("/ojs/v1/jobs", &body(3, "ignore")).is(200).id(), made.id());
    for strategy in ["replace", "replace_except_schedule"] {
        assert_eq!(sdk.post("/ojs/v1/jobs", &body(4, strategy)).is(201)["job"]["args"][0]["number"], 4);
    }
}

#[test]
fn it_works_fails_and_beats() {
    let mut sdk = Sdk::go();
    let retry = json!({"max_attempts": 3, "initial_interval_ms": 1, "jitter": false});
    let id = sdk.create(&json!({"type": "a.b", "args": [], "options": {"queue": "w", "retry": retry}}));
    reads(&sdk.fetch(&fetch("w")), JOB);
    let beat =
        json!({"worker_id": "worker_host_1_2", "state": "running", "active_jobs": 1, "active_job_ids": [id]});
    let beaten = sdk.post("/ojs/v1/workers/heartbeat", &beat);
    assert_eq!(beaten.is(200)["state"], "running");
    assert_eq!(beaten["jobs_extended"], json!([id]));
    sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    let again = sdk.fetch(&fetch("w"));
    reads(&again, JOB);
    reads_each(&again["errors"], ERROR);
    // A worker of another make, whose details are no object.
    sdk.nack(&id, &json!({"code": "E", "message": "no", "details": ["a", 1]})).is(200);
    let last = sdk.fetch(&fetch("w"));
    reads_each(&last["errors"], ERROR);
    sdk.ack(&id, &json!({"sent": 1})).is(200);
    reads(&sdk.get(&format!("/ojs/v1/jobs/{id}"))["job"], JOB);

    let id = sdk.create(&json!({"type": "a.b", "args": [], "options": {"queue": "w"}}));
    sdk.fetch(&fetch("w"));
    sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": false})).is(200);
    let shown = sdk.get(&format!("/ojs/v1/jobs/{id}"));
    assert_eq!(shown["job"]["state"], "discarded");
    reads(&shown["job"]["error"], ERROR);
}

/// Only the names of the steps say that they are callbacks; options of the whole stand beside them.
#[test]
fn it_composes_workflows_of_steps() {
    let mut sdk = Sdk::go();
    let step = |id: &str, after: &[&str]| json!({"id": id, "type": id, "args": [], "depends_on": after});
    let made = sdk.post(
        "/ojs/v1/workflows",
        &json!({"options": {"queue": "w"}, "steps": [step("job-0", &[]),
        step("on-complete", &["job-0"]), step("on-success", &["job-0"]), step("on-failure", &["job-0"])]}),
    );
    reads(&made.is(201)["workflow"], WORKFLOW);
    reads_each(&made["workflow"]["steps"], STEP);
    for _ in 0..3 {
        let job = sdk.fetch(&fetch("w"));
        assert_ne!(job["type"], "on-failure");
        sdk.ack(job["id"].as_str().unwrap_or_default(), &json!({"did": 1})).is(200);
    }
    let ended = sdk.get(&format!("/ojs/v1/workflows/{}", made.text("/workflow/id")));
    reads(&ended.is(200)["workflow"], WORKFLOW);
    reads_each(&ended["workflow"]["steps"], STEP);
    assert_eq!(ended["workflow"]["state"], "completed");
    let chain = json!({"name": "c", "steps": [step("step-0", &[]), step("step-1", &["step-0"])]});
    let made = sdk.post("/ojs/v1/workflows", &chain);
    let cancelled = sdk.delete(&format!("/ojs/v1/workflows/{}", made.text("/workflow/id")));
    let members = ["cancelled_at time", "steps_cancelled integer", "steps_already_completed integer"];
    reads(&cancelled.is(200)["workflow"], &members);
    assert_eq!(cancelled["workflow"]["steps_cancelled"], 2);
}

#[test]
fn it_looks_after_queues_and_dead_letters() {
    let mut sdk = Sdk::go();
    // It cannot say what is to become of a job in the end, so the queue does.
    let config = json!({"default_retry": {"on_exhaustion": "dead_letter"}});
    sdk.put("/ojs/v1/queues/q/config", &config).is(200);
    let ids =
        [1, 2].map(|n| sdk.create(&json!({"type": "a.b", "args": [{"n": n}], "options": {"queue": "q", "retry": {"max_attempts": 1}}})));
    for id in &ids {
        sdk.fetch(&fetch("q"));
        sdk.nack(id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    }
    let letters = sdk.get("/ojs/v1/dead-letter?limit=10&offset=0&queue=q");
    reads_each(&letters.is(200)["jobs"], JOB);
    reads(&letters["pagination"], PAGE);
    reads(&sdk.post_nothing(&format!("/ojs/v1/dead-letter/{}/retry", ids[0])).is(200)["job"], JOB);
    sdk.delete(&format!("/ojs/v1/dead-letter/{}", ids[1])).is(200);
    let queues = sdk.get("/ojs/v1/queues");
    reads_each(&queues.is(200)["queues"], &["name text", "status text", "created_at time"]);
    reads(&queues["pagination"], PAGE);
    sdk.post_nothing("/ojs/v1/queues/q/pause").is(200);
    let stats = sdk.get("/ojs/v1/queues/q/stats");
    reads(&stats.is(200).json, &["queue text", "status text", "stats object", "computed_at text"]);
    let counts = [
        "available integer",
        "active integer",
        "scheduled integer",
        "retryable integer",
        "discarded integer",
    ];
    reads(&stats["stats"], &counts);
    reads(
        &stats["stats"],
        &["completed_last_hour integer", "failed_last_hour integer", "avg_wait_ms number"],
    );
    sdk.post_nothing("/ojs/v1/queues/q/resume").is(200);
}

#[test]
fn it_registers_recurring_jobs_and_schemas() {
    let mut sdk = Sdk::go();
    let entry = json!({"name": "tick", "cron": "0 0 1 1 *", "timezone": "Europe/Berlin", "type": "a.b", "args": [{"a": 1}],
        "meta": {"m": 1}, "options": {"queue": "q"}});
    reads(&sdk.post("/ojs/v1/cron", &entry).is(201)["cron_job"], CRON);
    let list = sdk.get("/ojs/v1/cron");
    reads_each(&list.is(200)["cron_jobs"], CRON);
    reads(&list["pagination"], PAGE);
    sdk.delete("/ojs/v1/cron/tick").is(200);
    sdk.delete("/ojs/v1/cron/tick").is_refusal(404, "not_found");
    let schema =
        json!({"uri": "urn:test:1", "type": "mail.send", "version": "1.0.0", "schema": {"type": "array"}});
    let members = ["uri text", "type text", "version text", "created_at time"];
    reads(&sdk.post("/ojs/v1/schemas", &schema).is(201)["schema"], &members);
    let list = sdk.get("/ojs/v1/schemas");
    reads_each(&list.is(200)["schemas"], &members);
    reads(&list["pagination"], PAGE);
    // It leaves colons in a path as they are.
    assert_eq!(sdk.get("/ojs/v1/schemas/urn:test:1").is(200)["schema"]["schema"], json!({"type": "array"}));
    sdk.delete("/ojs/v1/schemas/urn:test:1").is(200);
}

#[test]
fn it_asks_who_the_server_is() {
    let mut sdk = Sdk::go();
    let health = sdk.get("/ojs/v1/health");
    reads(&health.is(200).json, &["status text", "version text", "uptime_seconds integer", "backend object"]);
    reads(&health["backend"], &["type text", "status text", "latency_ms integer", "error? text"]);
    let manifest = sdk.get("/ojs/manifest");
    reads(&manifest.is(200).json, &["ojs_version text", "implementation names", "conformance_level integer"]);
    reads(
        &manifest.json,
        &["protocols texts", "backend text", "capabilities flags", "extensions texts", "endpoints names"],
    );
}
