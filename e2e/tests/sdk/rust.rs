//! The Rust SDK, 0.4.0. Its types are strict, and it reads single things flat: a job, a workflow, a recurring job at the
//! top of the answer.

use serde_json::{Value, json};

use crate::reading::{reads, reads_each};
use crate::sdk::Sdk;

const JOB: &[&str] = &[
    "specversion text",
    "id text",
    "type text",
    "queue text",
    "meta object",
    "priority integer",
    "timeout? integer",
    "timeout_ms? integer",
    "scheduled_at? text",
    "state state",
    "attempt integer",
    "max_attempts integer",
    "created_at? time",
    "enqueued_at? time",
    "started_at? time",
    "completed_at? time",
    "tags? texts",
];
const RETRY: &[&str] = &[
    "max_attempts integer",
    "initial_interval text",
    "backoff_coefficient number",
    "max_interval text",
    "jitter flag",
    "non_retryable_errors texts",
    "on_exhaustion text",
];
const WORKFLOW: &[&str] = &["id text", "name? text", "state text", "created_at time", "steps list"];
const STEP: &[&str] = &["id text", "type text", "state text", "job_id text", "depends_on texts"];
const CRON: &[&str] = &[
    "name text",
    "cron text",
    "timezone text",
    "type text",
    "args list",
    "meta? object",
    "overlap_policy text",
    "enabled flag",
    "description? text",
    "status text",
    "last_run_at? time",
    "next_run_at? time",
    "run_count integer",
    "created_at time",
];

fn fetch(queue: &str) -> Value {
    json!({"queues": [queue, "default"], "count": 1, "worker_id": "worker_1"})
}

#[test]
fn it_produces() {
    let mut sdk = Sdk::of_three();
    let made = sdk.post(
        "/ojs/v1/jobs",
        &json!({"type": "mail.send", "args": [{"to": "ada"}], "meta": {"m": 1}, "schema": "urn:x:y", "options": {
            "queue": "mail", "priority": 5, "timeout_ms": 30_000, "delay_until": "2098-11-17T00:21:10.863831659Z",
            "expires_at": "2099-11-17T00:21:10.861611550Z", "tags": ["x"], "visibility_timeout_ms": 2000,
            "retry": {"max_attempts": 2, "initial_interval": "PT0.2S", "backoff_coefficient": 1.5, "max_interval": "PT5S",
                "jitter": false, "non_retryable_errors": ["bad.*"], "on_exhaustion": "dead_letter"}}}),
    );
    reads(&made.is(201)["job"], JOB);
    reads(&made["job"]["retry"], RETRY);
    assert_eq!(made["job"]["scheduled_at"], "2098-11-17T00:21:10.863831659Z");
    let path = format!("/ojs/v1/jobs/{}", made.id());
    // Flat from here on.
    reads(&sdk.get(&path).is(200).json, JOB);
    let cancelled = sdk.delete(&path);
    reads(&cancelled.is(200).json, JOB);
    assert_eq!(cancelled["state"], "cancelled");
    let refused = sdk.delete(&path);
    reads(
        &refused.is_refusal(409, "conflict")["error"],
        &["code text", "message text", "details object", "request_id text"],
    );
    let batch = sdk.post(
        "/ojs/v1/jobs/batch",
        &json!({"jobs": [{"type": "a.b", "args": [{}]}, {"type": "a.b", "args": []}]}),
    );
    reads_each(&batch.is(201)["jobs"], JOB);
    assert_eq!(batch["count"], 2);
}

#[test]
fn its_unique_policies_come_back_in_its_words() {
    let mut sdk = Sdk::of_three();
    let body = |number: u32, strategy: &str| {
        json!({"type": "a.b", "args": [{"to": "ada", "number": number}], "options": {"unique": {
            "keys": ["type", "args"], "args_keys": ["to"], "period": "PT1H", "on_conflict": strategy,
            "states": ["available", "active", "scheduled", "retryable", "pending"]}}})
    };
    let made = sdk.post("/ojs/v1/jobs", &body(1, "reject"));
    let echo = &made.is(201)["job"]["unique"];
    reads(
        echo,
        &[
            "keys texts",
            "args_keys texts",
            "meta_keys? texts",
            "period text",
            "states texts",
            "on_conflict text",
        ],
    );
    sdk.post("/ojs/v1/jobs", &body(2, "reject")).is_refusal(409, "duplicate");
    assert_eq!(sdk.post("/ojs/v1/jobs", &body(3, "ignore")).is(200).id(), made.id());
    for strategy in ["replace", "replace_except_schedule"] {
        assert_eq!(sdk.post("/ojs/v1/jobs", &body(4, strategy)).is(201)["job"]["args"][0]["number"], 4);
    }
}

#[test]
fn it_works_fails_and_beats() {
    let mut sdk = Sdk::of_three();
    let retry = json!({"max_attempts": 2, "initial_interval": "PT0.001S", "jitter": false, "backoff_coefficient": 2.0,
        "max_interval": "PT5M", "non_retryable_errors": [], "on_exhaustion": "discard"});
    let id = sdk.create(&json!({"type": "a.b", "args": [{}], "options": {"queue": "w", "retry": retry}}));
    reads(&sdk.fetch(&fetch("w")), JOB);
    let beat = sdk.post("/ojs/v1/workers/heartbeat", &json!({"worker_id": "worker_1", "active_jobs": [id]}));
    assert_eq!(beat.is(200)["state"], "running");
    assert_eq!(beat["jobs_extended"], json!([id]));
    sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    let again = sdk.fetch(&fetch("w"));
    reads(&again, JOB);
    reads(&again["errors"][0], &["type text", "message text", "backtrace? texts"]);
    sdk.nack(&id, &json!({"code": "handler_error", "message": "no", "retryable": false})).is(200);
    let shown = sdk.get(&format!("/ojs/v1/jobs/{id}"));
    assert_eq!(shown["state"], "discarded");
    reads(&shown["error"], &["type text", "message text", "backtrace? texts"]);
}

/// Only the names of the steps say that they are callbacks.
#[test]
fn it_composes_workflows_of_steps() {
    let mut sdk = Sdk::of_three();
    let step =
        |id: &str, queue: &str| json!({"id": id, "type": "a.b", "args": [{}], "options": {"queue": queue}});
    let after = |id: &str, queue: &str| {
        let mut step = step(id, queue);
        step["depends_on"] = json!(["job-0", "job-1"]);
        step
    };
    let made = sdk.post(
        "/ojs/v1/workflows",
        &json!({"steps": [step("job-0", "w"), step("job-1", "w"),
        after("on-complete", "done"), after("on-success", "well"), after("on-failure", "ill")]}),
    );
    reads(&made.is(201).json, WORKFLOW);
    reads_each(&made["steps"], STEP);
    for retryable in [true, false] {
        let job = sdk.fetch(&fetch("w"));
        // It looks for the workflow here.
        reads(&job["meta"], &["workflow_id text"]);
        let id = job["id"].as_str().unwrap_or_default();
        if retryable {
            sdk.ack(id, &json!({"did": 1})).is(200);
        } else {
            sdk.nack(id, &json!({"code": "handler_error", "message": "no", "retryable": false})).is(200);
        }
    }
    for queue in ["done", "ill"] {
        let job = sdk.fetch(&fetch(queue));
        sdk.ack(job["id"].as_str().unwrap_or_default(), &json!(1)).is(200);
    }
    let ended = sdk.get(&format!("/ojs/v1/workflows/{}", made.text("/id")));
    reads(&ended.is(200).json, WORKFLOW);
    let states = ended.list("/steps").iter().map(|step| step["state"].as_str().unwrap_or_default());
    assert!(states.eq(["completed", "failed", "completed", "skipped", "completed"]), "{}", ended.body);
    let made = sdk.post("/ojs/v1/workflows", &json!({"name": "c", "steps": [step("step-0", "w")]}));
    let cancelled = sdk.delete(&format!("/ojs/v1/workflows/{}", made.text("/id")));
    reads(&cancelled.is(200).json, WORKFLOW);
    reads(
        &cancelled.json,
        &["cancelled_at time", "steps_cancelled integer", "steps_already_complete integer"],
    );
}

/// It escapes everything in a path but letters and digits.
#[test]
fn it_looks_after_queues_and_dead_letters() {
    let mut sdk = Sdk::of_three();
    let options = json!({"queue": "q-1", "retry": {"max_attempts": 1, "on_exhaustion": "dead_letter"}});
    let ids = [1, 2].map(|n| sdk.create(&json!({"type": "a.b", "args": [n], "options": options})));
    for id in &ids {
        sdk.fetch(&fetch("q-1"));
        sdk.nack(id, &json!({"code": "handler_error", "message": "no", "retryable": true})).is(200);
    }
    let letters = sdk.get("/ojs/v1/dead-letter?queue=q%2D1&limit=1&offset=1");
    reads_each(&letters.is(200)["jobs"], JOB);
    reads(&letters["pagination"], &["total integer", "limit integer", "offset integer", "has_more flag"]);
    reads(&sdk.post_nothing(&format!("/ojs/v1/dead-letter/{}/retry", ids[0])).is(200).json, JOB);
    sdk.delete(&format!("/ojs/v1/dead-letter/{}", ids[1])).is(200);
    reads_each(
        &sdk.get("/ojs/v1/queues").is(200)["queues"],
        &["name text", "status text", "created_at time"],
    );
    sdk.post_nothing("/ojs/v1/queues/q%2D1/pause").is(200);
    let stats = sdk.get("/ojs/v1/queues/q%2D1/stats");
    reads(&stats.is(200).json, &["queue text", "status text", "stats object", "computed_at time"]);
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
        &["completed_last_hour integer", "failed_last_hour integer", "avg_duration_ms number"],
    );
    sdk.post_nothing("/ojs/v1/queues/q%2D1/resume").is(200);
}

#[test]
fn it_registers_recurring_jobs_and_schemas() {
    let mut sdk = Sdk::of_three();
    for policy in ["skip", "allow", "cancel_previous", "enqueue"] {
        let entry = json!({"name": format!("by-{policy}").replace('_', "-"), "cron": "0 0 1 1 *", "timezone": "UTC",
            "type": "a.b", "args": [1], "meta": {"m": 1}, "options": {"queue": "q"}, "overlap_policy": policy,
            "enabled": true, "description": "d"});
        let made = sdk.post("/ojs/v1/cron", &entry);
        reads(&made.is(201).json, CRON);
        assert_eq!(made["overlap_policy"], policy);
    }
    reads_each(&sdk.get("/ojs/v1/cron").is(200)["cron_jobs"], CRON);
    sdk.delete("/ojs/v1/cron/by%2Dskip").is(200);
    let schema =
        json!({"uri": "urn:test:1", "type": "mail.send", "version": "1.0.0", "schema": {"type": "array"}});
    let members = ["uri text", "type text", "version text", "created_at text"];
    reads(&sdk.post("/ojs/v1/schemas", &schema).is(201).json, &members);
    reads_each(&sdk.get("/ojs/v1/schemas").is(200)["schemas"], &members);
    reads(&sdk.get("/ojs/v1/schemas/urn%3Atest%3A1").is(200).json, &members);
    sdk.delete("/ojs/v1/schemas/urn%3Atest%3A1").is(200);
}

#[test]
fn it_asks_who_the_server_is() {
    let mut sdk = Sdk::of_three();
    reads(
        &sdk.get("/ojs/v1/health").is(200).json,
        &["status text", "version text", "uptime_seconds integer"],
    );
    let manifest = sdk.get("/ojs/manifest");
    reads(&manifest.is(200).json, &["ojs_version text", "implementation names", "conformance_level integer"]);
    reads(
        &manifest.json,
        &["protocols texts", "backend text", "capabilities flags", "extensions texts", "endpoints names"],
    );
}

#[test]
fn it_listens() {
    let mut sdk = Sdk::of_three();
    let mut stream = sdk.listen("queue%3Aq");
    let id = sdk.create(&json!({"type": "a.b", "args": [], "options": {"queue": "q"}}));
    assert_eq!(stream.until("job.enqueued").data["job_id"], json!(id));
}
