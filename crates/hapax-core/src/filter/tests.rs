//! One member of a filter at a time: a job that fits, and one that does not.

use std::sync::Arc;

use super::*;
use crate::testing::{at, claimed, job, job_in};
use crate::{Json, LeaseToken, Spec, State, WorkerError};

fn filter() -> JobFilter {
    JobFilter::default()
}

fn with(change: impl FnOnce(&mut Spec)) -> Job {
    let mut job = job();
    change(Arc::make_mut(&mut job.spec));
    job
}

fn member(name: &str, json: &str) -> MetaMember {
    MetaMember::new(name, &json::read(json, Limits::DEFAULT).unwrap()).unwrap()
}

#[test]
fn a_filter_that_says_nothing_fits_every_job() {
    assert!(filter().is_empty());
    for state in State::ALL {
        assert!(filter().fits(&job_in(state)), "{state}");
    }
}

#[test]
fn a_state_fits_its_own_jobs_only() {
    for wanted in State::ALL {
        let only = JobFilter { states: StateSet::of(&[wanted]), ..filter() };
        assert!(!only.is_empty());
        for state in State::ALL {
            assert_eq!(only.fits(&job_in(state)), state == wanted, "{wanted} and {state}");
        }
    }
}

#[test]
fn queue_type_and_priority_are_compared() {
    let mail = with(|spec| {
        spec.queue = QueueName::parse("mail").unwrap();
        spec.kind = JobType::parse("email.send").unwrap();
        spec.priority = Priority::new(5).unwrap();
    });
    let other = with(|spec| spec.kind = JobType::parse("email-send").unwrap());
    for narrow in [
        JobFilter { queue: QueueName::parse("mail").ok(), ..filter() },
        JobFilter { kind: KindPattern::parse("email.send").ok(), ..filter() },
        JobFilter { kind: KindPattern::parse("email.*").ok(), ..filter() },
        JobFilter { kind: KindPattern::parse("email.s*").ok(), ..filter() },
        JobFilter { priority: Priority::new(5).ok(), ..filter() },
    ] {
        assert!(narrow.fits(&mail), "{narrow:?}");
        assert!(!narrow.fits(&other), "{narrow:?}");
    }
    assert!(JobFilter { kind: KindPattern::parse("*").ok(), ..filter() }.fits(&other));
}

#[test]
fn what_cannot_begin_a_type_is_no_pattern() {
    for good in ["*", "a*", "email.*", "email.se*", "a_b-*", "email"] {
        assert!(KindPattern::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "Email.*", "e mail*", ".a*", "a..*", "a*b", "**", "1*", "%*"] {
        assert!(KindPattern::parse(bad).is_err(), "{bad}");
    }
    let long = format!("{}*", "a".repeat(300));
    assert!(KindPattern::parse(&long).is_err());
}

#[test]
fn a_range_has_its_first_moment_and_not_its_last() {
    let range = TimeRange { since: Some(at(5)), until: Some(at(7)) };
    let held = |seconds| range.holds(Some(at(seconds)));
    assert_eq!([4, 5, 6, 7].map(held), [false, true, true, false]);
    assert!(!range.holds(None) && TimeRange::ALWAYS.holds(None));
    assert!(!TimeRange { since: None, until: Some(at(7)) }.holds(None), "it never happened");
}

#[test]
fn each_moment_has_its_own_range() {
    let since_five = TimeRange { since: Some(at(5)), until: None };
    let made = Job { created_at: at(5), enqueued_at: None, ..job() };
    let enqueued = Job { created_at: at(4), enqueued_at: Some(at(5)), ..job() };
    let ended = Job { created_at: at(4), enqueued_at: Some(at(4)), ..job_in(State::Completed) };
    let fits = |narrow: JobFilter| [&made, &enqueued, &ended].map(|job| narrow.fits(job));
    assert_eq!(fits(JobFilter { created: since_five, ..filter() }), [true, false, false]);
    assert_eq!(fits(JobFilter { enqueued: since_five, ..filter() }), [false, true, false]);
    assert_eq!(fits(JobFilter { ended: since_five, ..filter() }), [false, false, true]);
}

#[test]
fn a_worker_is_who_holds_the_job_now() {
    let active = claimed(&job(), LeaseToken::new([1; 16]), at(0));
    let of = |name| JobFilter { worker: WorkerId::parse(name), ..filter() };
    assert!(of("w").fits(&active) && !of("v").fits(&active));
    assert!(!of("w").fits(&job()));
}

#[test]
fn dead_letters_are_told_from_other_discarded_jobs() {
    let letters = JobFilter { dead_letters_only: true, ..filter() };
    let letter = job_in(State::Discarded);
    let cause = crate::Cause::Failed;
    let gone = Job { phase: Phase::Discarded { at: at(1), cause, dead_letter: false }, ..letter.clone() };
    assert!(letters.fits(&letter) && !letters.fits(&gone));
}

#[test]
fn the_newest_failure_counts_and_not_an_older_one() {
    let mut failed = job();
    for kind in ["Timeout", "Refused"] {
        failed.history.push(1, WorkerError::of_server(kind, String::new()), at(1));
    }
    let of = |kind: &str| JobFilter { error_type: Some(kind.into()), ..filter() };
    assert!(of("Refused").fits(&failed) && !of("Timeout").fits(&failed) && !of("Refused").fits(&job()));
    failed.history.clear_current();
    assert!(of("Refused").fits(&failed), "what went wrong last is known after a success, too");
}

#[test]
fn members_of_the_metadata_are_compared_by_value() {
    let tenant =
        with(|spec| spec.meta = Json::from_trusted(r#"{"tenant_id":"acme","n":1.0,"o":{"a":1,"b":2}}"#));
    let of = |members: &[(&str, &str)]| JobFilter {
        meta: members.iter().map(|(name, json)| member(name, json)).collect(),
        ..filter()
    };
    assert!(of(&[("tenant_id", r#""acme""#)]).fits(&tenant));
    assert!(of(&[("tenant_id", r#""acme""#), ("n", "1"), ("o", r#"{ "b": 2, "a": 1 }"#)]).fits(&tenant));
    for other in [("tenant_id", r#""other""#), ("n", r#""1""#), ("missing", "1"), ("o", "{}")] {
        assert!(!of(&[("tenant_id", r#""acme""#), other]).fits(&tenant), "{other:?}");
    }
    assert!(!of(&[("tenant_id", "null")]).fits(&job()), "a missing member is not null");
}

#[test]
fn every_part_must_fit() {
    let both = JobFilter {
        states: StateSet::of(&[State::Available]),
        created: TimeRange { since: Some(at(1)), until: None },
        ..filter()
    };
    assert!(both.fits(&Job { created_at: at(1), ..job() }));
    assert!(!both.fits(&job()));
    assert!(!both.fits(&Job { created_at: at(1), ..job_in(State::Active) }));
}
