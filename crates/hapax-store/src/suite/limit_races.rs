//! Many workers at one rate limit.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use hapax_core::{Event, Job, JobId};

use super::bench::{Bench, HOUR, holder_of};
use super::draft::plain;
use super::limits::{at_a_time, per};
use super::race::{RACERS, fill, race};
use crate::Action;

const ROUNDS: usize = 30;

pub(super) fn workers_never_run_more_than_a_limit_allows(bench: &mut Bench) {
    fill(bench, ROUNDS * RACERS, &plain().limited("api", at_a_time(3)));
    let running = AtomicUsize::new(0);
    let done: Vec<JobId> = race(bench, ROUNDS, |racer, _| {
        let jobs = racer.fetch(2);
        let now_running = running.fetch_add(jobs.len(), Ordering::SeqCst) + jobs.len();
        assert!(now_running <= 3, "{now_running} run at a time");
        // Before the ack: whoever fetches after it may start.
        running.fetch_sub(jobs.len(), Ordering::SeqCst);
        for job in &jobs {
            acknowledge(racer, job);
        }
        jobs.into_iter().map(|job| job.id).collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .flatten()
    .collect();
    assert_eq!(done.len(), done.iter().collect::<HashSet<_>>().len(), "none twice");
    assert!(done.len() >= ROUNDS, "somebody always gets one");
}

pub(super) fn acks_against_claims_leave_nobody_behind(bench: &mut Bench) {
    let all = fill(bench, ROUNDS, &plain().limited("api", at_a_time(1)));
    race(bench, ROUNDS * 3, |racer, _| {
        for job in racer.fetch(1) {
            acknowledge(racer, &job);
        }
    });
    // What is left can be had one by one.
    while let [job] = &bench.fetch(&["default"], 9)[..] {
        bench.acknowledge(job).unwrap();
    }
    let left = all.iter().filter(|id| !bench.state(**id).is_terminal()).count();
    assert_eq!(left, 0, "nobody waits for room that is there");
}

pub(super) fn starts_never_exceed_a_window(bench: &mut Bench) {
    fill(bench, 100, &plain().limited("api", per(7, HOUR)));
    let started: usize = race(bench, 5, |racer, _| {
        let jobs = racer.fetch(2);
        for job in &jobs {
            acknowledge(racer, job);
        }
        jobs.len()
    })
    .into_iter()
    .flatten()
    .sum();
    assert_eq!(started, 7);
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.fetch_ids(99).len(), 7);
}

fn acknowledge(racer: &super::race::Racer, job: &Job) {
    let event = Event::Acknowledge { claimant: holder_of(job), result: None };
    racer.act(Action::Step { id: job.id, event }).unwrap();
}
