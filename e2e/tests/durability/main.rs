//! Durability as the operating system sees it: no success leaves the process before its data is on disk.

mod disk_full;
mod power_cut;
mod sync_failure;
mod witness;
mod write_order;

use std::process::Command;

use e2e::{Client, Request, job};
use serde_json::json;

/// Panics when strace is missing: a durability test that did not look proves nothing.
#[track_caller]
fn require_strace() {
    let works = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    assert!(works, "strace is missing: install it (apt-get install -y strace), or run cargo xtask test");
}

/// Enqueues jobs one after another until one is not accepted; returns the ids of those that were.
fn enqueue_until_refused(client: &mut Client, pad: usize, most: usize) -> Vec<String> {
    let body = job("a.b").args(json!([{"pad": "x".repeat(pad)}])).text();
    let request = Request::post("/ojs/v1/jobs", body);
    let mut accepted = Vec::new();
    while accepted.len() < most {
        match client.try_send(&request) {
            Ok(answer) if answer.status == 201 => accepted.push(answer.id()),
            Ok(answer) => {
                assert!(answer.status >= 500, "refused with {}: {}", answer.status, answer.body);
                answer.is_error(answer.status);
                break;
            }
            Err(_) => break,
        }
    }
    accepted
}

/// Panics unless every one of these jobs waits to be fetched.
#[track_caller]
fn all_there(client: &mut Client, ids: &[String]) {
    for id in ids {
        assert_eq!(client.state(id), "available");
    }
}
