//! Races: many threads at one key, one job, one line. They start each round together, and every one of them
//! must get an answer that some order of the racers explains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hapax_core::unique::Strategy;
use hapax_core::{Admission, Chance, Event, Job, JobId, SpecPatch, State, Verdict};

use super::bench::{Bench, HOUR, SECOND, holder_of};
use super::draft::{plain, unique};
use super::race::{RACERS, fill, race};
use super::wait;
use crate::{Action, Answer, Done, Memo, MemoKey, Remembered};

/// Racers on a new key per round, all with that strategy.
fn race_for_a_key(bench: &mut Bench, strategy: Strategy) -> Vec<Vec<Admission>> {
    let rounds = bench.effort().rounds;
    let results =
        race(bench, rounds, |racer, round| racer.enqueue(unique(&format!("{round}")).on_conflict(strategy)));
    let made = |admission: &Admission| admission.verdict.is_new().then_some(admission.job.id);
    bench.add_ids(results.iter().flatten().filter_map(made));
    results
}

/// One of the racers made the job, and all others were told of it.
fn one_made_it(round: &[Admission], others: &Verdict) {
    let made: Vec<JobId> = round.iter().filter(|a| a.verdict == Verdict::Created).map(|a| a.job.id).collect();
    assert_eq!(made.len(), 1, "one created");
    assert_eq!(round.iter().filter(|a| a.verdict == *others).count(), RACERS - 1);
    assert!(round.iter().all(|admission| admission.job.id == made[0]), "all name the same job");
}

pub(super) fn n_racers_get_1_created_n_minus_1_dup_0_errors(bench: &mut Bench) {
    for round in race_for_a_key(bench, Strategy::Reject) {
        one_made_it(&round, &Verdict::Rejected);
        let holder = bench.job(round[0].job.id);
        assert_eq!(holder.ledger.count(), RACERS as u64 - 1, "every duplicate was counted");
    }
}

pub(super) fn of_racers_that_ignore_one_creates_and_all_get_its_job(bench: &mut Bench) {
    for round in race_for_a_key(bench, Strategy::Ignore) {
        one_made_it(&round, &Verdict::Existing);
    }
}

pub(super) fn of_racers_that_replace_one_stays_alive(bench: &mut Bench) {
    for round in race_for_a_key(bench, Strategy::Replace) {
        let made: BTreeSet<JobId> = round.iter().map(|admission| admission.job.id).collect();
        assert_eq!(made.len(), RACERS, "each made a job");
        let (alive, gone): (Vec<JobId>, Vec<JobId>) =
            made.iter().partition(|id| bench.state(**id) == State::Available);
        assert_eq!(alive.len(), 1);
        let replaced = round.iter().filter_map(|admission| match &admission.verdict {
            Verdict::Replaced(ids) => Some(ids.clone()),
            _ => None,
        });
        let mut replaced: Vec<JobId> = replaced.flatten().collect();
        replaced.sort();
        assert_eq!(replaced, gone, "each was replaced by one other");
    }
}

pub(super) fn of_racers_with_any_strategy_one_stays_alive(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, round| {
        let strategy = Strategy::ALL[usize::try_from(racer.chances.bits() % 4).unwrap()];
        racer.enqueue(unique(&format!("{round}")).on_conflict(strategy))
    });
    for round in results {
        let made: BTreeSet<JobId> = round.iter().filter(|a| a.verdict.is_new()).map(|a| a.job.id).collect();
        let alive = made.iter().filter(|id| bench.state(**id) == State::Available).count();
        assert_eq!(alive, 1);
        assert!(round.iter().all(|admission| made.contains(&admission.job.id)));
        bench.add_ids(made);
    }
}

pub(super) fn of_racing_batches_one_is_taken_whole(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, round| {
        let keys = ["a", "b", "c"].map(|key| unique(&format!("{round}{key}")));
        let incoming = keys.map(|draft| draft.incoming(racer.chances.id(racer.now))).to_vec();
        racer.act(Action::EnqueueAll { incoming, memo: None })
    });
    for round in results {
        let taken: Vec<_> = round.into_iter().filter_map(Result::ok).collect();
        let [Done::EnqueuedAll(admissions)] = &taken[..] else { panic!("one batch is taken: {taken:?}") };
        assert!(admissions.iter().all(|admission| admission.verdict == Verdict::Created));
        bench.add_ids(admissions.iter().map(|admission| admission.job.id));
    }
}

pub(super) fn the_same_request_from_many_is_done_once(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, round| {
        let incoming = Box::new(plain().incoming(racer.chances.id(racer.now)));
        let render = |answer: &Answer| match answer {
            Ok(Done::Enqueued(admission)) => {
                Remembered { status: 201, body: admission.job.id.to_string().into_bytes().into() }
            }
            other => panic!("an enqueue was answered by {other:?}"),
        };
        let key = MemoKey(round.to_string().into());
        let memo = Some(Memo { key, fingerprint: [0; 32], render: Arc::new(render) });
        racer.act(Action::Enqueue { incoming, memo }).unwrap()
    });
    for round in results {
        let made = round.iter().filter_map(|done| match done {
            Done::Enqueued(admission) => Some(admission.job.id),
            _ => None,
        });
        let made: Vec<JobId> = made.collect();
        assert_eq!(made.len(), 1);
        let same = |done: &&Done| match done {
            Done::Remembered(reply) => *reply.body == *made[0].to_string().into_bytes(),
            _ => false,
        };
        assert_eq!(round.iter().filter(same).count(), RACERS - 1);
        bench.add_ids(made);
    }
}

pub(super) fn every_job_is_delivered_to_one_fetcher(bench: &mut Bench) {
    let jobs = fill(bench, 4000, &plain());
    // Enough fetches to empty the line, however the racers share it.
    let results = race(bench, jobs.len() / RACERS, |racer, round| racer.fetch(1 + round % 3));
    let delivered: Vec<&Job> = results.iter().flatten().flatten().collect();
    assert!(delivered.iter().all(|job| job.fence == 1 && job.state() == State::Active));
    let distinct: BTreeSet<JobId> = delivered.iter().map(|job| job.id).collect();
    assert_eq!(distinct.len(), delivered.len(), "nothing twice");
    assert_eq!(distinct, jobs.into_iter().collect(), "nothing left");
}

/// Racers do the same to one job; one of them succeeds.
fn one_of_many(bench: &mut Bench, targets: &[JobId], event: impl Fn(usize) -> Event + Sync) {
    let results = race(bench, targets.len(), |racer, round| {
        racer.act(Action::Step { id: targets[round], event: event(round) }).is_ok()
    });
    for (round, target) in results.iter().zip(targets) {
        assert_eq!(round.iter().filter(|done| **done).count(), 1, "job {target}");
    }
}

pub(super) fn a_job_is_completed_by_one_of_many_acks(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    fill(bench, rounds, &plain());
    let running = bench.fetch(&["default"], rounds);
    let targets: Vec<JobId> = running.iter().map(|job| job.id).collect();
    one_of_many(bench, &targets, |round| Event::Acknowledge {
        claimant: holder_of(&running[round]),
        result: None,
    });
}

pub(super) fn a_job_is_ended_by_an_ack_or_a_cancel_and_not_by_both(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    fill(bench, rounds, &plain());
    let running = bench.fetch(&["default"], rounds);
    let results = race(bench, rounds, |racer, round| {
        let job = &running[round];
        let acknowledge = Event::Acknowledge { claimant: holder_of(job), result: None };
        let event = if racer.chances.bits().is_multiple_of(2) { Event::Cancel } else { acknowledge };
        racer.act(Action::Step { id: job.id, event }).is_ok()
    });
    assert!(results.iter().all(|round| round.iter().filter(|done| **done).count() == 1));
}

pub(super) fn a_dead_letter_is_revived_once(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let targets = fill(bench, rounds, &plain().dies_at_once());
    for job in bench.fetch(&["default"], rounds) {
        bench.fail(&job).unwrap();
    }
    one_of_many(bench, &targets, |_| Event::Revive { patch: SpecPatch::default() });
    assert_eq!(bench.totals().counts.of(State::Available), rounds as u64);
}

pub(super) fn what_is_due_happens_once_however_many_chores_run(bench: &mut Bench) {
    let draft = plain().scheduled_at(bench.now + SECOND);
    let jobs = fill(bench, 2000, &draft);
    bench.pass(HOUR);
    let results = race(bench, jobs.len() / 100, |racer, _| {
        let advance = wait(racer.store.advance(racer.now, 50, Chance(0))).unwrap();
        advance.changes.iter().map(|change| change.job().id).collect::<Vec<_>>()
    });
    let mut promoted: Vec<JobId> = results.into_iter().flatten().flatten().collect();
    promoted.sort();
    let mut jobs = jobs;
    jobs.sort();
    assert_eq!(promoted, jobs);
}

pub(super) fn enqueues_fetches_and_acks_at_once_lose_and_double_nothing(bench: &mut Bench) {
    const KEYS: u64 = 4;
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, _| {
        let key = format!("{}", racer.chances.bits() % KEYS);
        let admission = racer.enqueue(unique(&key));
        let done = racer.fetch(2).into_iter().map(|job| {
            let event = Event::Acknowledge { claimant: holder_of(&job), result: None };
            racer.act(Action::Step { id: job.id, event }).unwrap();
            job.id
        });
        (done.collect::<Vec<JobId>>(), admission)
    });
    let (done, admissions): (Vec<_>, Vec<_>) = results.into_iter().flatten().unzip();
    let made = admissions.iter().filter(|admission| admission.verdict == Verdict::Created);
    let made: BTreeSet<JobId> = made.map(|admission| admission.job.id).collect();
    let mut deliveries: BTreeMap<JobId, usize> = BTreeMap::new();
    done.into_iter().flatten().for_each(|id| *deliveries.entry(id).or_default() += 1);
    assert!(deliveries.values().all(|times| *times == 1), "nothing is delivered twice");
    assert!(admissions.iter().all(|admission| made.contains(&admission.job.id)), "every answer names a job");
    bench.add_ids(made.iter().copied());
    let left = made.iter().filter(|id| !deliveries.contains_key(id)).count();
    assert_eq!(bench.fetch_ids(RACERS * rounds).len(), left, "what was not delivered still waits");
    assert!(left <= usize::try_from(KEYS).unwrap(), "one per key");
}
