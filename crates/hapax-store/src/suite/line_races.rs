//! Many who add to lines, run what is in them and call it off, all at once.

use std::collections::HashMap;
use std::sync::Mutex;

use hapax_core::{Claimant, Event, Job, JobId, Phase};

use super::bench::Bench;
use super::draft::plain;
use super::race::{Racer, race};
use crate::Action;

/// How many lines the racers share.
const LINES: usize = 5;
/// How often each racer does its work.
const ROUNDS_MAX: usize = 20;

/// Who runs, and who ran in which order, by line.
#[derive(Default)]
struct Track {
    running: HashMap<Box<str>, JobId>,
    started: HashMap<Box<str>, Vec<JobId>>,
}

fn key_of(job: &Job) -> Box<str> {
    job.spec.ordering_key.as_ref().expect("the job stands in a line").as_str().into()
}

/// Runs what there is, watching that nobody runs beside another of its line.
fn work(racer: &mut Racer, track: &Mutex<Track>, count: usize) -> usize {
    let jobs = racer.fetch(count);
    for job in &jobs {
        let mut track = track.lock().unwrap();
        let beside = track.running.insert(key_of(job), job.id);
        assert_eq!(beside, None, "two run of the line {}", key_of(job));
        track.started.entry(key_of(job)).or_default().push(job.id);
    }
    for job in &jobs {
        track.lock().unwrap().running.remove(&key_of(job));
        let Phase::Active { lease, .. } = &job.phase else { panic!("a fetched job is active: {job:?}") };
        let claimant = Claimant { token: Some(Ok(lease.token)), worker: None };
        // It may have been called off.
        drop(racer.act(Action::Step { id: job.id, event: Event::Acknowledge { claimant, result: None } }));
    }
    jobs.len()
}

fn drain(bench: &mut Bench) -> Vec<JobId> {
    let mut rest = Vec::new();
    loop {
        let jobs = bench.fetch(&["default"], 100);
        if jobs.is_empty() {
            return rest;
        }
        for job in jobs {
            bench.acknowledge(&job).unwrap();
            rest.push(job.id);
        }
    }
}

pub(super) fn racers_never_run_two_of_a_line(bench: &mut Bench) {
    let track = Mutex::new(Track::default());
    let rounds = bench.effort().rounds.min(ROUNDS_MAX);
    let made = race(bench, rounds, |racer, round| {
        let key = format!("line {}", (racer.number + round) % LINES);
        let made = [(); 2].map(|()| racer.enqueue(plain().ordered(&key)).job.id);
        work(racer, &track, 3);
        (key, made)
    });
    let mut started = track.into_inner().unwrap().started;
    for id in drain(bench) {
        started.entry(key_of(&bench.job(id))).or_default().push(id);
    }
    let place: HashMap<JobId, usize> =
        started.values().flat_map(|ids| ids.iter().enumerate().map(|(place, id)| (*id, place))).collect();
    let all: Vec<(String, [JobId; 2])> = made.into_iter().flatten().collect();
    bench.add_ids(all.iter().flat_map(|(_, made)| *made));
    for (key, [first, second]) in &all {
        assert!(place[first] < place[second], "{key}: they start in the order in which they were accepted");
    }
    assert_eq!(place.len(), 2 * all.len(), "each ran once");
}

pub(super) fn cancellations_against_ends_leave_nobody_waiting(bench: &mut Bench) {
    let track = Mutex::new(Track::default());
    let rounds = bench.effort().rounds.min(ROUNDS_MAX);
    let made = race(bench, rounds, |racer, _| {
        let made = [(); 3].map(|()| racer.enqueue(plain().ordered("k")).job.id);
        // The one that runs may end by it, and another go on: that is no overtaking.
        drop(racer.act(Action::Step { id: made[racer.number % 3], event: Event::Cancel }));
        let jobs = racer.fetch(1);
        for job in &jobs {
            track.lock().unwrap().started.entry(key_of(job)).or_default().push(job.id);
            let claimant = Claimant { token: None, worker: None };
            drop(
                racer.act(Action::Step { id: job.id, event: Event::Acknowledge { claimant, result: None } }),
            );
        }
        made
    });
    drain(bench);
    let all: Vec<JobId> = made.into_iter().flatten().flatten().collect();
    bench.add_ids(all.iter().copied());
    for id in all {
        let job = bench.job(id);
        assert!(job.state().is_terminal(), "{} still waits for {:?}", job.id, job.waits_for());
    }
}
