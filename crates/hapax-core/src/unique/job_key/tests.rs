//! Each mode against a holder in each state.

use std::fmt::Write as _;

use super::*;
use crate::testing::{at, job_in};
use crate::unique::{Uniqueness, resolve};

fn named(mode: JobKeyMode) -> Uniqueness {
    Uniqueness::JobKey(JobKey { name: "abc".into(), mode })
}

fn cell(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Create => "created",
        Resolution::Existing(_) => "existing",
        Resolution::Supersede(_) => "created; the running job loses key and retries",
        Resolution::Update { takeover: Takeover::Renew { keeps_start: true }, .. } => "updated, start kept",
        Resolution::Update { takeover: Takeover::Renew { keeps_start: false }, .. } => "updated, start too",
        other => panic!("a job key never leads to {other:?}"),
    }
}

/// A holder that was tried before waits again.
fn holders() -> Vec<(String, Job)> {
    let fresh = |state| (format!("{state}"), Job { attempt: 0, ..job_in(state) });
    let tried = |state| (format!("{state}, tried before"), Job { attempt: 1, ..job_in(state) });
    let waiting = [State::Scheduled, State::Available, State::Pending];
    let mut holders: Vec<_> = waiting.into_iter().map(fresh).collect();
    holders.extend([State::Available, State::Retryable].map(tried));
    let rest = [State::Active, State::Discarded, State::Completed, State::Cancelled];
    holders.extend(rest.map(|state| (format!("{state}"), job_in(state))));
    holders
}

/// The table that stands in docs/job-keys.md.
fn table() -> String {
    let mut text = String::from("| the job with this key is |");
    for mode in JobKeyMode::ALL {
        write!(text, " `{}` |", mode.name()).unwrap();
    }
    text.push_str("\n|---|---|---|---|\n");
    for (name, holder) in holders() {
        write!(text, "| {name} |").unwrap();
        for mode in JobKeyMode::ALL {
            let resolution = resolve(&named(mode), std::slice::from_ref(&holder), at(5)).resolution;
            write!(text, " {} |", cell(&resolution)).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_table_of_modes_and_states_is_the_documented_one() {
    let page = include_str!("../../../../../docs/job-keys.md");
    assert!(page.contains(&table()), "docs/job-keys.md must hold this table:\n{}", table());
}

#[test]
fn without_a_holder_every_mode_creates() {
    for mode in JobKeyMode::ALL {
        assert_eq!(resolve(&named(mode), &[], at(5)).resolution, Resolution::Create);
    }
}

#[test]
fn a_job_that_expired_before_anybody_tried_it_starts_again_too() {
    let expired = Job { attempt: 0, ..job_in(State::Discarded) };
    let again = Resolution::Update { holder: expired.id, takeover: Takeover::Renew { keeps_start: false } };
    assert_eq!(resolve(&named(JobKeyMode::PreserveRunAt), &[expired], at(5)).resolution, again);
}

#[test]
fn a_name_is_one_however_its_accents_are_written() {
    let key = |name| JobKey::key(name).unwrap();
    assert_eq!(key("caf\u{e9}"), key("cafe\u{301}"));
    assert_ne!(key("abc"), key("ABC"));
    assert_eq!(JobKey::canonical_text("a\"b").unwrap(), r#"{"job_key":"a\"b"}"#);
}
