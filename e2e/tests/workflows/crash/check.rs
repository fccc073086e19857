//! The comparison of the book with servers after a fault.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use e2e::{Client, Heard, INCOMPLETE, Request, clock, together};
use serde_json::Value;

use super::book::{Book, count};
use super::case::{Case, QUEUE};
use super::load::{fetch, finish, request};
use super::record::{CalledOff, Record};

const DRAIN_MAX: Duration = Duration::from_mins(1);
const WORKERS: usize = 4;
const STEPS_AT_ONCE: usize = 5;

/// Asks again for every workflow whose start was not answered: it is safe, and afterwards it is there once.
pub(crate) fn resend(client: &mut Client, book: &Book) {
    let is_open = |record: &&Record| !record.steps.iter().any(|step| step.acknowledged.is_some());
    let open: Vec<Case> =
        book.workflows().values().filter(is_open).map(|record| record.case.clone()).collect();
    for case in open {
        book.started(&case, &client.send(&request(&case)));
    }
}

/// What the server says of every workflow agrees with what was answered.
pub(crate) fn compare(client: &mut Client, book: &Book) {
    for record in book.workflows().values() {
        record.agrees_with(&shown(client, record));
    }
}

/// Works everything off.
pub(crate) fn drain(addresses: &[SocketAddr], book: &Book) {
    let started = clock::now();
    together(WORKERS, |number| {
        let mut client = Client::new(addresses[number % addresses.len()]);
        while left(&mut client) > 0 {
            assert!(started.elapsed() < DRAIN_MAX, "{} jobs never end", left(&mut client));
            let (heard, steps) = fetch(&mut client, book, STEPS_AT_ONCE);
            assert!(matches!(heard, Heard::Answer(_)), "{heard:?}");
            for (delivery, case, step) in steps {
                let heard = finish(&mut client, book, &delivery, &case, step);
                assert!(matches!(heard, Heard::Answer(_)), "{heard:?}");
            }
        }
    });
}

/// Nothing waits, every workflow has ended as it had to, and there is none that nobody asked for.
pub(crate) fn everything(client: &mut Client, book: &Book) {
    assert_eq!(left(client), 0);
    let mut expected = BTreeSet::new();
    for record in book.workflows().values() {
        let shown = shown(client, record);
        record.agrees_with(&shown);
        has_ended(client, book, record, &shown);
        expected.extend(record.id.clone());
    }
    assert_eq!(expected.len(), book.workflows().len());
    assert_eq!(all_ids(client), expected, "the workflows that are there, and those that were asked for");
}

fn has_ended(client: &mut Client, book: &Book, record: &Record, shown: &Value) {
    let Record { case, called_off, steps, .. } = record;
    let was_called_off = match called_off {
        CalledOff::Never => false,
        CalledOff::Maybe => shown["state"] == "cancelled",
        CalledOff::At(_) => true,
    };
    let end = if was_called_off { "cancelled" } else { case.end() };
    assert_eq!(shown["state"], end, "{record:?}: {shown}");
    for (number, step) in steps.iter().enumerate() {
        let state = shown["steps"][number]["state"].as_str().unwrap_or_default();
        let fate = case.fate(number);
        assert!(state == fate || was_called_off && state == "cancelled", "{number} of {record:?}: {shown}");
        let id = shown["steps"][number]["job_id"].as_str().unwrap_or_default();
        let job = client.get(&format!("/ojs/v1/jobs/{id}"));
        if state == "skipped" {
            // A callback that is not needed leaves no job.
            assert_eq!(job.status, 404, "{}", job.body);
        } else {
            let expected = if state == "failed" { "discarded" } else { state };
            assert_eq!(job.is(200)["job"]["state"], expected, "step {number} of {record:?}");
        }
        let has_run = ["completed", "failed"].contains(&state);
        if has_run && step.acknowledged.is_none() {
            assert!(step.is_unanswered, "step {number} ended without a report: {record:?}");
            count(&book.counters.unanswered_had_happened);
        }
    }
}

fn shown(client: &mut Client, record: &Record) -> Value {
    let id = record.id.as_deref().unwrap_or_else(|| panic!("no id: {record:?}"));
    client.get(&format!("/ojs/v1/workflows/{id}")).is(200)["workflow"].clone()
}

/// How many jobs have not ended.
fn left(client: &mut Client) -> u64 {
    INCOMPLETE.iter().map(|state| client.count(QUEUE, state)).sum()
}

fn all_ids(client: &mut Client) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let page = client.send(&Request::new("GET", &format!("/ojs/v1/workflows?limit=50{cursor}")));
        for workflow in page.is(200).list("/workflows") {
            let id = workflow["id"].as_str().unwrap_or_default().to_owned();
            assert!(ids.insert(id), "twice in the list: {workflow}");
        }
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { return ids };
        cursor = format!("&cursor={next}");
    }
}
