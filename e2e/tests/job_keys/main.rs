//! Job keys over HTTP: a name for a job, to replace, update or remove it later.

mod merging;
mod modes;
mod names;
mod removal;
mod requests;
mod running;
mod together;

use e2e::{Client, Holder, Job, job};
use serde_json::{Value, json};

/// Not a state: available, and tried before.
const TRIED: &str = "tried";

/// The modes that do something to the job that has the name.
const RENEWING: [&str; 2] = ["replace", "preserve_run_at"];

/// Every mode.
const MODES: [&str; 3] = ["replace", "preserve_run_at", "unsafe_dedupe"];

/// A digest with this name and payload.
fn digest(name: &str, payload: Value) -> Job {
    job("mail.digest").payload(payload).job_key(name)
}

/// A job of version 1 with this name, brought into the state, or into the place that is no state of its own.
#[track_caller]
fn bring(client: &mut Client, name: &str, queue: &str, state: &str) -> Holder {
    let job = digest(name, json!({"version": 1}));
    match state {
        TRIED => Holder::bring_tried(client, &job, queue),
        _ => Holder::bring(client, &job, queue, state),
    }
}

/// A job without what its holder has turned away, to compare it with what it was.
fn without_ledger(mut job: Value) -> Value {
    if let Some(unique) = job["unique"].as_object_mut() {
        unique.remove("duplicates");
    }
    job
}
