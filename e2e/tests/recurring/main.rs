//! Recurring jobs as their users see them: one job for each tick, whoever dies and whatever clocks do.
//!
//! `HAPAX_CRON_CRASHES` makes a soak of it.

mod clocks;
mod crash;
mod overlap;
mod preview;
mod refusals;
mod switch;
mod ticks;

use e2e::{Answer, Client, job};
use serde_json::{Value, json};

/// In every second.
const EVERY_SECOND: &str = "* * * * * *";
/// Not while a test runs.
const YEARLY: &str = "0 0 1 1 *";

/// The request for a recurring job on a queue of its name.
fn entry(name: &str, expression: &str, overlap: &str) -> Value {
    let template = job("beat").on(name).json();
    json!({"name": name, "expression": expression, "overlap_policy": overlap, "job_template": template})
}

#[track_caller]
fn register(client: &mut Client, entry: &Value) {
    client.post("/ojs/v1/cron", entry).is(201);
}

#[track_caller]
fn run(client: &mut Client, name: &str) -> Answer {
    let answer = client.post(&format!("/ojs/v1/cron/{name}/run"), &json!({}));
    answer.is(200);
    answer
}

/// Runs it now, and says which job was made.
#[track_caller]
fn made(client: &mut Client, name: &str) -> String {
    let answer = run(client, name);
    assert_eq!(answer["triggered"], true, "{}", answer.body);
    answer.text("/job_id").to_owned()
}
