//! Each mode against a holder in each state.

use e2e::{Answer, Client, FAR_FUTURE, Holder, Job, Server};
use serde_json::json;

use crate::{MODES, RENEWING, TRIED, bring, digest, without_ledger};

const LATER: &str = "2098-01-01T00:00:00Z";
const UNTRIED: [&str; 3] = ["scheduled", "available", "pending"];
const FAILED_BEFORE: [&str; 3] = [TRIED, "retryable", "discarded"];

/// Runs a case on a holder in each of the states, each with a name and a queue of its own. The case gets the name.
fn for_each(states: &[&str], case: impl Fn(&mut Client, &str, &Holder, &str)) {
    let server = Server::start();
    let mut client = server.client();
    for state in states {
        let (name, queue) = (format!("name:{state}"), format!("q-{state}"));
        let holder = bring(&mut client, &name, &queue, state);
        case(&mut client, state, &holder, &name);
    }
}

/// Version 2 of the job, in this mode.
fn next(name: &str, mode: &str) -> Job {
    digest(name, json!({"version": 2})).with("job_key_mode", mode)
}

#[track_caller]
fn is_updated(answer: &Answer, holder: &Holder) {
    assert_eq!(answer.is(200)["outcome"], "updated", "{}", answer.body);
    assert_eq!(answer["deduplicated"], true, "{}", answer.body);
    assert_eq!(answer.id(), holder.id);
    assert_eq!(answer["job"]["args"], json!([{"version": 2}]));
}

#[test]
fn a_name_that_nobody_has_is_created_in_every_mode() {
    let server = Server::start();
    let mut client = server.client();
    for mode in MODES {
        let answer = client.enqueue(&next(mode, mode));
        assert_eq!(answer.is(201)["outcome"], "created");
        assert_ne!(answer["deduplicated"], true);
        assert_eq!(answer["job"]["job_key"], mode);
        assert_eq!(answer["job"]["job_key_mode"], mode);
        assert_eq!(answer["job"]["state"], "available");
        let key = answer.text("/job/unique/uniqueness_key");
        assert!(key.len() == 64 && key.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{key}");
    }
}

#[test]
fn the_mode_is_replace_unless_the_job_says() {
    let server = Server::start();
    let mut client = server.client();
    assert_eq!(client.enqueue(&digest("a", json!(1))).is(201)["job"]["job_key_mode"], "replace");
    assert_eq!(client.enqueue(&digest("a", json!(2))).is(200)["outcome"], "updated");
}

#[test]
fn replace_gives_a_holder_that_waits_or_was_given_up_every_attribute() {
    for_each(&[&UNTRIED[..], &FAILED_BEFORE].concat(), |client, state, holder, name| {
        let new = next(name, "replace")
            .with("type", "mail.weekly")
            .on("other")
            .with("priority", 7)
            .with("meta", json!({"tenant": "acme"}))
            .with("tags", json!(["late"]))
            .with("timeout_ms", 5_000)
            .with("visibility_timeout_ms", 6_000)
            .with("scheduled_at", LATER)
            .with("expires_at", FAR_FUTURE)
            .with("x_trace", "abc")
            .retried(1_000, 9);
        let answer = client.enqueue(&new);
        is_updated(&answer, holder);
        let updated = answer.list("/updated");
        for field in
            ["type", "queue", "priority", "args", "meta", "tags", "scheduled_at", "expires_at", "retry"]
        {
            assert!(updated.contains(&json!(field)), "{state}: no {field} in {updated:?}");
        }
        let stored = client.job(&holder.id);
        assert_eq!(stored, answer["job"], "{state}: what was answered is what is stored");
        for attribute in
            ["type", "queue", "priority", "meta", "tags", "timeout_ms", "scheduled_at", "x_trace"]
        {
            assert_eq!(stored[attribute], new.json()[attribute], "{state}: {attribute}");
        }
        assert_eq!(stored["max_attempts"], 9, "{state}");
        assert_eq!(stored["state"], "scheduled", "{state}");
        assert_eq!(client.count("other", "scheduled"), 1, "{state}: it stands in its new queue");
        client.cancel(&holder.id).is(200);
    });
}

#[test]
fn replace_without_a_start_means_at_once() {
    for_each(&[&UNTRIED[..], &FAILED_BEFORE].concat(), |client, state, holder, name| {
        let answer = client.enqueue(&next(name, "replace").on("now"));
        is_updated(&answer, holder);
        assert_eq!(answer["job"]["state"], "available", "{state}");
        assert!(answer["job"]["scheduled_at"].is_null(), "{state}: {}", answer.body);
        assert_eq!(client.fetch_one("now").id, holder.id, "{state}");
    });
}

#[test]
fn preserve_run_at_leaves_an_untried_holder_where_it_is() {
    for_each(&UNTRIED, |client, state, holder, name| {
        let before = client.job(&holder.id);
        let answer = client.enqueue(&next(name, "preserve_run_at").with("scheduled_at", LATER));
        is_updated(&answer, holder);
        assert_eq!(answer["job"]["state"], *state);
        assert_eq!(answer["job"]["scheduled_at"], before["scheduled_at"], "{state}");
        let updated = answer.list("/updated");
        assert!(!updated.contains(&json!("scheduled_at")), "{state}: {updated:?}");
    });
}

#[test]
fn preserve_run_at_moves_a_holder_that_failed_before() {
    for_each(&FAILED_BEFORE, |client, state, holder, name| {
        let answer = client.enqueue(&next(name, "preserve_run_at").with("scheduled_at", LATER));
        is_updated(&answer, holder);
        assert_eq!(answer["job"]["state"], "scheduled", "{state}");
        assert_eq!(answer["job"]["scheduled_at"], LATER, "{state}");
    });
}

#[test]
fn a_holder_that_failed_before_starts_again_from_nothing() {
    for mode in RENEWING {
        for_each(&FAILED_BEFORE, |client, state, holder, name| {
            let answer = client.enqueue(&next(name, mode).on("again").retried(1, 2));
            is_updated(&answer, holder);
            let job = &answer["job"];
            assert_eq!(job["attempt"], 0, "{state} {mode}");
            assert_eq!(job["state"], "available", "{state} {mode}");
            for gone in ["error", "next_attempt_at", "started_at", "discarded_at", "completed_at"] {
                assert!(job[gone].is_null(), "{state} {mode}: {gone} in {job}");
            }
            assert_eq!(job["errors"].as_array().map(Vec::len), Some(1), "{state} {mode}: its history stays");
            let again = client.fetch_one("again");
            assert_eq!((again.id.as_str(), again.fence), (holder.id.as_str(), 2), "{state} {mode}");
            assert_eq!(again.job["attempt"], 1, "{state} {mode}");
            assert_eq!(client.nack(&again).is(200)["state"], "retryable", "{state} {mode}: a first failure");
            client.cancel(&holder.id).is(200);
        });
    }
}

#[test]
fn a_late_report_on_a_renewed_job_changes_nothing() {
    for mode in RENEWING {
        for_each(&FAILED_BEFORE, |client, state, holder, name| {
            is_updated(&client.enqueue(&next(name, mode)), holder);
            let renewed = client.job(&holder.id);
            client.ack(holder.delivery()).is_refusal(409, "lease_lost");
            client.nack(holder.delivery()).is_refusal(409, "lease_lost");
            assert_eq!(client.job(&holder.id), renewed, "{state} {mode}");
        });
    }
}

#[test]
fn unsafe_dedupe_leaves_every_holder_as_it_is() {
    let states = [&UNTRIED[..], &FAILED_BEFORE, &["active"]].concat();
    for_each(&states, |client, state, holder, name| {
        let before = client.job(&holder.id);
        let answer = client.enqueue(&next(name, "unsafe_dedupe").with("scheduled_at", LATER).on("other"));
        assert_eq!(answer.is(200)["outcome"], "existing", "{state}");
        assert_eq!(answer["deduplicated"], true, "{state}");
        assert_eq!(answer.id(), holder.id, "{state}");
        let after = client.job(&holder.id);
        assert_eq!(after["unique"]["duplicates"]["count"], 1, "{state}");
        assert_eq!(without_ledger(after), without_ledger(before), "{state}");
        assert_eq!(client.count("other", "scheduled"), 0, "{state}");
    });
}

#[test]
fn a_job_that_is_completed_or_cancelled_has_given_its_name_back() {
    for mode in MODES {
        for_each(&["completed", "cancelled"], |client, state, holder, name| {
            let answer = client.enqueue(&next(name, mode));
            assert_eq!(answer.is(201)["outcome"], "created", "{state} {mode}");
            assert_ne!(answer.id(), holder.id, "{state} {mode}");
            let old = client.job(&holder.id);
            assert_eq!(old["state"], *state, "{mode}");
            assert_eq!(old["args"], json!([{"version": 1}]), "{state} {mode}");
        });
    }
}

#[test]
fn an_update_is_counted_in_the_holders_ledger() {
    for_each(&["scheduled", "discarded"], |client, state, holder, name| {
        client.enqueue(&next(name, "replace")).is(200);
        let ledger = &client.job(&holder.id)["unique"]["duplicates"];
        assert_eq!(ledger["count"], 1, "{state}");
        assert_eq!(ledger["recent"][0]["outcome"], "updated", "{state}");
    });
}

#[test]
fn what_waits_in_line_keeps_its_place_there() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.create(&digest("a", json!(1)));
    let second = client.create(&digest("b", json!(1)));
    for mode in RENEWING {
        client.enqueue(&digest("a", json!(2)).with("job_key_mode", mode)).is(200);
    }
    let order: Vec<String> = client.fetch("default", 2).into_iter().map(|delivery| delivery.id).collect();
    assert_eq!(order, [first, second]);
}
