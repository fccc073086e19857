//! Races for job keys, successors and released keys: every caller gets an answer that some order of them explains.

use std::collections::BTreeSet;

use hapax_core::unique::{JobKeyMode, Key, Strategy};
use hapax_core::{Admission, Event, Job, JobId, State, StateSet, Verdict};

use super::bench::{ALL, Bench, HOUR, holder_of, job_key_of, release, waits_for};
use super::draft::{job_key, unique};
use super::race::{RACERS, Racer, race};
use crate::{Action, Done, HolderQuery};

/// The holders of the key that have not ended.
fn live(bench: &Bench, key: Key) -> Vec<Job> {
    let found = bench.holders(HolderQuery { key, covered_by: None, limit: ALL });
    found.jobs.into_iter().filter(|job| !job.state().is_terminal()).collect()
}

fn created(round: &[Admission]) -> Vec<JobId> {
    round.iter().filter(|answer| answer.verdict.is_new()).map(|answer| answer.job.id).collect()
}

/// The numbers of all racers, once each and in any order.
fn everybody(mut numbers: Vec<usize>) -> bool {
    numbers.sort_unstable();
    numbers.into_iter().eq(0..RACERS)
}

fn numbers(list: &str) -> Vec<usize> {
    list.split(',').map(|number| number.parse().unwrap()).collect()
}

/// Racers on a new name per round, each with an array of its own number.
fn race_for_a_name(bench: &mut Bench, mode: impl Fn(&mut Racer) -> JobKeyMode + Sync) -> Vec<Vec<Admission>> {
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, round| {
        let mode = mode(racer);
        racer.enqueue(job_key(&format!("{round}")).mode(mode).args(&format!("[[{}]]", racer.number)))
    });
    bench.add_ids(results.iter().flat_map(|round| created(round)));
    results
}

pub(super) fn twenty_clients_on_one_name_make_one_job_with_all_their_items(bench: &mut Bench) {
    for round in race_for_a_name(bench, |_| JobKeyMode::Replace) {
        let made = created(&round);
        assert_eq!(made.len(), 1, "one created");
        assert!(round.iter().all(|answer| answer.job.id == made[0]), "all get its job back");
        let job = bench.job(made[0]);
        assert_eq!(job.ledger.count(), RACERS as u64 - 1);
        let list = job.spec.args.as_str().trim_start_matches('[').trim_end_matches(']');
        assert!(everybody(numbers(list)), "every item once: {list}");
    }
}

pub(super) fn twenty_clients_of_every_mode_on_one_name_make_one_job(bench: &mut Bench) {
    for round in race_for_a_name(bench, |racer| JobKeyMode::ALL[racer.number % 3]) {
        let made = created(&round);
        assert_eq!(made.len(), 1);
        assert!(round.iter().all(|answer| answer.job.id == made[0]));
        let list = bench.job(made[0]).spec.args.as_str().to_owned();
        let listed = list.matches(',').count() + 1;
        let updated = round.iter().filter(|answer| matches!(answer.verdict, Verdict::Updated(_))).count();
        assert_eq!(listed, updated + 1, "who was told of an update is in the list: {list}");
    }
}

pub(super) fn names_given_up_by_running_jobs_are_held_by_one_job_each(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let results = race(bench, rounds, |racer, round| {
        let answer = racer.enqueue(job_key(&format!("{}", round % 5)));
        racer.fetch(1);
        answer
    });
    let made: BTreeSet<JobId> = results.iter().flat_map(|round| created(round)).collect();
    assert!(results.iter().flatten().all(|answer| made.contains(&answer.job.id)), "every answer names a job");
    bench.add_ids(made.iter().copied());
    for name in 0..5.min(rounds) {
        assert_eq!(live(bench, job_key_of(&name.to_string())).len(), 1);
    }
    assert!(made.iter().all(|id| bench.get(*id).is_some()));
}

/// A running holder per round.
fn running(bench: &mut Bench, rounds: usize) -> Vec<Job> {
    for round in 0..rounds {
        bench.create(unique(&format!("{round}")).visibility_timeout(HOUR));
    }
    bench.fetch(&["default"], rounds)
}

/// The payload that a job has if the last of those it took over has won.
fn newest_payload(job: &Job, own: &str) -> String {
    let newest = job.ledger.recent().last().and_then(|entry| entry.request_id.as_deref());
    format!("[{}]", newest.unwrap_or(own))
}

pub(super) fn duplicates_of_a_running_job_share_one_successor(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let running = running(bench, rounds);
    let results = race(bench, rounds, |racer, round| {
        let number = racer.number.to_string();
        let draft = unique(&format!("{round}")).queue_latest().args(&format!("[{number}]"));
        racer.enqueue(draft.request(&number))
    });
    for (round, (answers, running)) in results.iter().zip(&running).enumerate() {
        let made = created(answers);
        assert_eq!(made.len(), 1, "one successor");
        bench.add_ids(made.iter().copied());
        let job = bench.job(made[0]);
        assert_eq!((waits_for(&job), job.ledger.count()), (Some(running.id), RACERS as u64 - 1));
        assert_eq!(job.spec.args.as_str(), newest_payload(&job, ""), "round {round}: the newest wins");
    }
}

pub(super) fn duplicates_against_an_ack_never_make_two_successors_or_lose_the_newest(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    let running = running(bench, rounds);
    let results = race(bench, rounds, |racer, round| {
        if racer.number == 0 {
            let job = &running[round];
            let event = Event::Acknowledge { claimant: holder_of(job), result: None };
            racer.act(Action::Step { id: job.id, event }).unwrap();
            return None;
        }
        // Whoever comes after the end replaces the successor that was let go.
        let number = racer.number.to_string();
        let draft = unique(&format!("{round}")).queue_latest().on_conflict(Strategy::Replace);
        Some((number.clone(), racer.enqueue(draft.args(&format!("[{number}]")).request(&number))))
    });
    for (round, answers) in results.into_iter().enumerate() {
        let answers: Vec<(String, Admission)> = answers.into_iter().flatten().collect();
        let made: Vec<(String, JobId)> =
            answers.iter().filter(|(_, a)| a.verdict.is_new()).map(|(n, a)| (n.clone(), a.job.id)).collect();
        bench.add_ids(made.iter().map(|(_, id)| *id));
        let left = live(bench, Key::of_text(&format!("{round}")));
        assert_eq!((left.len(), left[0].state()), (1, State::Available), "round {round}: one, and it goes");
        let taken: u64 = made.iter().map(|(_, id)| bench.job(*id).ledger.count()).sum();
        assert_eq!(
            made.len() + usize::try_from(taken).unwrap(),
            RACERS - 1,
            "each made a job or was taken over"
        );
        for (own, id) in &made {
            let job = bench.job(*id);
            assert_eq!(job.spec.args.as_str(), newest_payload(&job, own), "round {round}: the newest wins");
            let replaced = |(_, other): &&(String, Admission)| match &other.verdict {
                Verdict::Replaced(ids) => ids.contains(id),
                _ => false,
            };
            let times = answers.iter().filter(replaced).count();
            assert_eq!(
                times,
                usize::from(*id != left[0].id),
                "round {round}: all but the last gave way to one other"
            );
        }
    }
}

pub(super) fn releases_against_enqueues_leave_at_most_one_holder(bench: &mut Bench) {
    let rounds = bench.effort().rounds;
    for round in 0..rounds {
        bench.create(unique(&format!("{round}")));
    }
    let results = race(bench, rounds, |racer, round| {
        let draft = unique(&format!("{round}"));
        if racer.number % 3 == 0 {
            let key = Key::of_text(&format!("{round}"));
            let freed = match racer.act(Action::StepHolders {
                key,
                states: StateSet::ALL,
                event: release(),
                limit: ALL,
            }) {
                Ok(Done::SteppedHolders(changes)) => changes.len(),
                _ => 0,
            };
            return (freed, None);
        }
        let answer = racer.enqueue(draft);
        (0, answer.verdict.is_new().then_some(answer.job.id))
    });
    for (round, answers) in results.into_iter().enumerate() {
        let freed: usize = answers.iter().map(|(freed, _)| freed).sum();
        let made: Vec<JobId> = answers.into_iter().filter_map(|(_, made)| made).collect();
        let held = live(bench, Key::of_text(&format!("{round}"))).len();
        assert_eq!(1 + made.len(), freed + held, "round {round}: a key is held or was given up");
        assert!(held <= 1, "round {round}");
        bench.add_ids(made);
    }
}

pub(super) fn lists_of_several_keys_in_opposite_orders_never_block_each_other(bench: &mut Bench) {
    const KEYS: usize = 8;
    // Many keys per round, so fewer rounds.
    let rounds = bench.effort().rounds.div_ceil(10);
    let strategies = [Strategy::Ignore, Strategy::Replace, Strategy::Reject];
    let results = race(bench, rounds, |racer, round| {
        let draft = |key: usize| match key % 2 {
            0 => unique(&format!("{round}.{key}")).on_conflict(strategies[racer.number % strategies.len()]),
            _ => job_key(&format!("{round}.{key}")),
        };
        let mut drafts: Vec<_> = (0..KEYS).map(draft).collect();
        if racer.number % 2 == 0 {
            drafts.reverse();
        }
        let incoming = drafts.into_iter().map(|draft| draft.incoming(racer.chances.id(racer.now))).collect();
        let as_a_batch = racer.number % 4 < 2;
        let batch = |incoming| Action::EnqueueAll { incoming, memo: None };
        let list = |incoming| Action::EnqueueEach { incoming, memo: None };
        match racer.act(if as_a_batch { batch(incoming) } else { list(incoming) }) {
            Ok(Done::EnqueuedAll(answers)) => answers,
            Ok(Done::EnqueuedEach(answers)) => answers.into_iter().flatten().collect(),
            Ok(other) => panic!("a list was answered by {other:?}"),
            Err(_) => Vec::new(),
        }
    });
    bench.add_ids(results.iter().flatten().flat_map(|answers| created(answers)));
    for (round, key) in (0..rounds).flat_map(|round| (0..KEYS).map(move |key| (round, key))) {
        let name = format!("{round}.{key}");
        let holders = live(bench, if key % 2 == 0 { Key::of_text(&name) } else { job_key_of(&name) });
        assert_eq!(holders.len(), 1, "key {name}");
    }
    assert_eq!(bench.totals().counts.of(State::Available), (KEYS * rounds) as u64);
}
