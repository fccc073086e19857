//! The Python SDK, 0.4.0. It takes a body for JSON by its media type alone, builds jobs and workflows out of members that
//! must be there, and hands the rest to its user as it came.

use serde_json::{Value, json};

use crate::reading::{reads, reads_each};
use crate::sdk::Sdk;

const JOB: &[&str] = &[
    "id text",
    "type text",
    "state state",
    "args list",
    "queue text",
    "meta object",
    "priority integer",
    "attempt integer",
    "max_attempts integer",
    "timeout_ms? integer",
    "tags? texts",
    "retry? object",
    "unique? object",
    "created_at? time",
    "enqueued_at? time",
    "started_at? time",
    "completed_at? time",
    "errors? list",
];
const WORKFLOW: &[&str] = &["id text", "name text", "state text", "steps list", "created_at time"];
const STEP: &[&str] = &["id text", "type text", "depends_on texts", "job_id text", "state text"];
const PAGE: &[&str] = &["total integer", "limit integer", "offset integer", "has_more flag"];

/// All its policies have these five members.
fn retry(attempts: u32) -> Value {
    json!({"max_attempts": attempts, "initial_interval": "PT0.001S", "backoff_coefficient": 2.0, "max_interval": "PT5M",
        "jitter": false})
}

fn fetch(queue: &str) -> Value {
    json!({"queues": [queue], "count": 1, "visibility_timeout_ms": 30_000, "worker_id": "worker_1"})
}

#[test]
fn it_produces() {
    let mut sdk = Sdk::of_three();
    let made = sdk.post(
        "/ojs/v1/jobs",
        &json!({"type": "mail.send", "args": ["ada", 1], "meta": {"m": 1}, "schema": "urn:x:y", "options": {
            "queue": "mail", "priority": 5, "timeout_ms": 30_000, "expires_at": "2099-01-01T00:00:00+02:00",
            "delay_until": "2098-01-01T00:00:00+02:00", "retry": retry(2), "tags": ["x"]}}),
    );
    reads(&made.is(201)["job"], JOB);
    // Times that a client gave come back in its own words, which this SDK can read.
    assert_eq!(made["job"]["scheduled_at"], "2098-01-01T00:00:00+02:00");
    let path = format!("/ojs/v1/jobs/{}", made.id());
    reads(&sdk.get(&path).is(200)["job"], JOB);
    reads(&sdk.delete(&path).is(200)["job"], JOB);
    sdk.delete(&path).is_refusal(409, "conflict");
    sdk.get("/ojs/v1/jobs/019539a4-b68c-7def-8000-1a2b3c4d5e6f").is_refusal(404, "not_found");
    let several = json!({"jobs": [{"type": "a.b", "args": [1]}, {"type": "a.b", "args": [2], "options": {"queue": "q"}}]});
    reads_each(&sdk.post("/ojs/v1/jobs/batch", &several).is(201)["jobs"], JOB);
    assert_eq!(sdk.get("/ojs/v1/health").is(200)["status"], "ok");
    assert_eq!(sdk.get("/ojs/manifest").is(200)["ojs_version"], "1.0");
}

#[test]
fn its_key_names_dimensions() {
    let mut sdk = Sdk::of_three();
    let body = |argument: u32, strategy: &str| {
        json!({"type": "a.b", "args": [argument], "options": {"unique": {"on_conflict": strategy,
            "key": ["type", "queue", "args"], "period": "PT1H", "states": ["available", "active", "scheduled"]}}})
    };
    let id = sdk.create(&body(1, "reject"));
    sdk.create(&body(2, "reject"));
    sdk.post("/ojs/v1/jobs", &body(1, "reject")).is_refusal(409, "duplicate");
    assert_eq!(sdk.post("/ojs/v1/jobs", &body(1, "ignore")).is(200).id(), id);
    assert_ne!(sdk.post("/ojs/v1/jobs", &body(1, "replace")).is(201).id(), id);
    let echo = &sdk.post("/ojs/v1/jobs", &body(1, "ignore"))["job"]["unique"];
    reads(echo, &["period text", "states texts", "on_conflict text"]);
}

#[test]
fn it_works_fails_and_beats() {
    let mut sdk = Sdk::of_three();
    let id = sdk.create(&json!({"type": "a.b", "args": [], "options": {"queue": "w", "retry": retry(2)}}));
    reads(&sdk.fetch(&fetch("w")), JOB);
    let beat = json!({"worker_id": "worker_1", "active_jobs": [id], "visibility_timeout_ms": 30_000});
    let beaten = sdk.post("/ojs/v1/workers/heartbeat", &beat);
    assert_eq!(beaten.is(200)["state"], "running");
    assert_eq!(beaten["jobs_extended"], json!([id]));
    // It beats before it has anything.
    sdk.post("/ojs/v1/workers/heartbeat", &json!({"worker_id": "worker_2", "active_jobs": []})).is(200);
    sdk.post(
        "/ojs/v1/workers/progress",
        &json!({"job_id": id, "percentage": 10, "message": "at", "data": {"i": 1}}),
    )
    .is(200);
    let details = json!({"traceback": "Traceback:\n  File \"a.py\", line 3\nValueError: no\n"});
    sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": true, "details": details}))
        .is(200);
    assert_eq!(sdk.fetch(&fetch("w"))["attempt"], 2);
    // A handler that returns nothing.
    sdk.post("/ojs/v1/workers/ack", &json!({"job_id": id})).is(200);
    let shown = sdk.get(&format!("/ojs/v1/jobs/{id}"));
    assert_eq!(shown["job"]["state"], "completed");
    assert_eq!(shown["job"]["errors"][0]["details"], details);

    // No handler for the type.
    let id = sdk.create(&json!({"type": "a.c", "args": [], "options": {"queue": "w", "retry": retry(5)}}));
    sdk.fetch(&fetch("w"));
    let answer =
        sdk.nack(&id, &json!({"code": "handler_error", "message": "no handler", "retryable": false}));
    assert_eq!(answer.is(200)["state"], "discarded");
}

/// It writes chains, groups and batches as steps that name each other; only callbacks say what they are.
#[test]
fn it_composes_workflows_of_steps() {
    let mut sdk = Sdk::of_three();
    let step = |id: &str, after: &[&str], options: Value| json!({"id": id, "type": "a.b", "args": [], "depends_on": after, "options": options});
    let after = ["step-0", "step-1"];
    let batch = json!({"name": "report", "steps": [
        step("step-0", &[], json!({"queue": "w"})),
        step("step-1", &[], json!({"queue": "w", "retry": retry(1)})),
        step("on_complete", &after, json!({"callback_type": "on_complete", "queue": "done"})),
        step("on_success", &after, json!({"callback_type": "on_success", "queue": "well"})),
        step("on_failure", &after, json!({"callback_type": "on_failure", "queue": "ill"}))]});
    let made = sdk.post("/ojs/v1/workflows", &batch);
    reads(&made.is(201)["workflow"], WORKFLOW);
    reads_each(&made["workflow"]["steps"], STEP);
    for _ in 0..2 {
        let job = sdk.fetch(&fetch("w"));
        let id = job["id"].as_str().unwrap_or_default().to_owned();
        if job["max_attempts"] == 1 {
            sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
        } else {
            sdk.ack(&id, &json!({"did": 1})).is(200);
        }
    }
    for queue in ["done", "ill"] {
        let job = sdk.fetch(&fetch(queue));
        sdk.ack(job["id"].as_str().unwrap_or_default(), &json!(1)).is(200);
    }
    let path = format!("/ojs/v1/workflows/{}", made.text("/workflow/id"));
    let ended = sdk.get(&path);
    reads(&ended.is(200)["workflow"], WORKFLOW);
    assert_eq!(ended["workflow"]["steps"][3]["state"], "skipped");
    let chain = json!({"name": "c", "steps": [step("step-0", &[], json!({})), step("step-1", &["step-0"], json!({}))]});
    let made = sdk.post("/ojs/v1/workflows", &chain);
    assert_eq!(made.is(201)["workflow"]["steps"][1]["state"], "waiting");
    sdk.delete(&format!("/ojs/v1/workflows/{}", made.text("/workflow/id"))).is(200);
}

#[test]
fn it_looks_after_queues_and_dead_letters() {
    let mut sdk = Sdk::of_three();
    // It cannot say what is to become of a job in the end, so the queue does.
    let config = json!({"default_retry": {"on_exhaustion": "dead_letter"}});
    sdk.put("/ojs/v1/queues/q/config", &config).is(200);
    let ids = [1, 2, 3].map(|n| {
        sdk.create(&json!({"type": "a.b", "args": [n], "options": {"queue": "q", "retry": retry(1)}}))
    });
    for id in &ids {
        sdk.fetch(&fetch("q"));
        sdk.nack(id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    }
    let letters = sdk.get("/ojs/v1/dead-letter?limit=2&offset=2&queue=q");
    reads_each(&letters.is(200)["jobs"], JOB);
    reads(&letters["pagination"], PAGE);
    assert_eq!(letters.list("/jobs").len(), 1);
    reads(&sdk.post_nothing(&format!("/ojs/v1/dead-letter/{}/retry", ids[0])).is(200)["job"], JOB);
    sdk.delete(&format!("/ojs/v1/dead-letter/{}", ids[1])).is(200);
    reads_each(
        &sdk.get("/ojs/v1/queues").is(200)["queues"],
        &["name text", "status text", "created_at time"],
    );
    let stats = sdk.get("/ojs/v1/queues/q/stats");
    reads(&stats.is(200).json, &["queue text", "status text", "stats object", "computed_at time"]);
    let members = [
        "available integer",
        "completed_last_hour integer",
        "avg_wait_ms number",
        "throughput_per_second number",
    ];
    reads(&stats["stats"], &members);
    sdk.post_nothing("/ojs/v1/queues/q/pause").is(200);
    assert_eq!(sdk.get("/ojs/v1/queues/q/stats")["status"], "paused");
    sdk.post_nothing("/ojs/v1/queues/q/resume").is(200);
}

#[test]
fn it_registers_recurring_jobs_and_counts_on() {
    let mut sdk = Sdk::of_three();
    for name in ["a", "b", "c"] {
        let entry = json!({"name": name, "cron": "0 0 1 1 *", "type": "a.b", "args": [1], "timezone": "Europe/Berlin",
            "meta": {"m": 1}, "options": {"queue": "q", "priority": 3, "retry": retry(2), "tags": ["t"]}});
        assert_eq!(sdk.post("/ojs/v1/cron", &entry).is(201)["name"], name);
    }
    let page = sdk.get("/ojs/v1/cron?limit=2&offset=2");
    reads(&page.is(200)["pagination"], PAGE);
    assert_eq!((page.list("/cron_jobs").len(), &page["cron_jobs"][0]["name"]), (1, &json!("c")));
    sdk.delete("/ojs/v1/cron/a").is(200);
    sdk.delete("/ojs/v1/cron/a").is_refusal(404, "not_found");
    let schema =
        json!({"uri": "urn:test:1", "type": "mail.send", "version": "1.0.0", "schema": {"type": "array"}});
    sdk.post("/ojs/v1/schemas", &schema).is(201);
    reads(&sdk.get("/ojs/v1/schemas?limit=50&offset=0").is(200)["pagination"], PAGE);
    sdk.delete("/ojs/v1/schemas/urn%3Atest%3A1").is(200);
}

/// It does not encode the colon.
#[test]
fn it_listens() {
    let mut sdk = Sdk::of_three();
    let mut stream = sdk.listen("queue:q");
    let id = sdk.create(&json!({"type": "a.b", "args": [], "options": {"queue": "q"}}));
    assert_eq!(stream.until("job.enqueued").data["job_id"], json!(id));
}
