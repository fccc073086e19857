//! The admin API: finding jobs and doing something about many of them while workers are at it.

mod deeds;
mod lists;
mod maintenance;
mod workers;

use e2e::{Answer, Client};
use serde_json::{Value, json};

/// The ids of a list.
fn ids(answer: &Answer) -> Vec<String> {
    let id = |item: &Value| item["id"].as_str().unwrap_or_default().to_owned();
    answer.list("/items").iter().map(id).collect()
}

/// Has an operator do something about all jobs that fit.
fn treat(client: &mut Client, deed: &str, filter: &Value) -> Answer {
    client.post(&format!("/ojs/v1/admin/jobs/bulk/{deed}"), &json!({"filter": filter, "confirm": true}))
}
