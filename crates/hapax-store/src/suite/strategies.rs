//! Conflicts: every strategy against a holder in every state, and what does not conflict.

use hapax_core::unique::Strategy;
use hapax_core::{Admission, Event, Job, JobId, Phase, Refusal, State, StateSet, Verdict};

use super::bench::{Bench, HOUR, SECOND, holder_of};
use super::draft::{plain, unique};
use crate::Action;

const ALIVE: StateSet = StateSet::INCOMPLETE;

/// A holder of `k` in that state, and the job that comes while it is there.
fn against(bench: &mut Bench, state: State, strategy: Strategy) -> (Job, Admission) {
    let key = format!("{state}");
    let holder = bench.create_in(state, unique(&key));
    let holder = bench.job(holder);
    bench.pass(SECOND);
    let answer = bench.enqueue(unique(&key).states(StateSet::ALL).on_conflict(strategy).args("[2]"));
    bench.fetch(&["default"], 10);
    (holder, answer)
}

/// The job as it was, whatever it turned away since.
fn without_ledger(job: Job) -> Job {
    Job { ledger: hapax_core::unique::Ledger::default(), ..job }
}

/// Two jobs that hold `k` side by side, the older first: their policy looks at completed jobs only.
fn two_holders(bench: &mut Bench) -> (JobId, JobId) {
    let draft = || unique("k").states(StateSet::of(&[State::Completed]));
    let older = bench.create(draft());
    bench.pass(SECOND);
    (older, bench.create(draft()))
}

pub(super) fn reject_turns_the_job_away_whatever_the_holder_does(bench: &mut Bench) {
    for state in State::ALL {
        bench.restart(bench.rules().clone());
        let holder = bench.create_in(state, unique("k"));
        let before = bench.job(holder);
        let answer = bench.enqueue(unique("k").states(StateSet::ALL));
        assert_eq!(answer.verdict, Verdict::Rejected, "{state}");
        assert_eq!(answer.job, bench.job(holder));
        assert_eq!(answer.changed, [(state, bench.job(holder))]);
        assert_eq!(without_ledger(bench.job(holder)), without_ledger(before));
        assert_eq!(bench.get(*bench.ids().last().unwrap()), None, "the duplicate is not stored");
    }
}

pub(super) fn ignore_answers_with_the_holder_whatever_it_does(bench: &mut Bench) {
    for state in State::ALL {
        bench.restart(bench.rules().clone());
        let holder = bench.create_in(state, unique("k"));
        let before = bench.job(holder);
        let answer = bench.enqueue(unique("k").states(StateSet::ALL).on_conflict(Strategy::Ignore));
        assert_eq!(answer.verdict, Verdict::Existing, "{state}");
        assert_eq!(answer.job, bench.job(holder));
        assert_eq!(without_ledger(answer.job), without_ledger(before));
    }
}

pub(super) fn replace_calls_off_whatever_waits_or_runs(bench: &mut Bench) {
    for state in ALIVE.iter() {
        let (holder, answer) = against(bench, state, Strategy::Replace);
        assert_eq!(answer.verdict, Verdict::Replaced(vec![holder.id]), "{state}");
        assert_ne!(answer.job.id, holder.id);
        assert_eq!(answer.job.state(), State::Available);
        assert_eq!(answer.job.spec.args.as_str(), "[2]");
        let old = bench.job(holder.id);
        assert_eq!(old.phase, Phase::Cancelled { at: answer.job.created_at, from: state });
        assert_eq!(answer.changed, [(state, old)]);
    }
}

pub(super) fn replace_leaves_finished_holders_as_they_are(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        for strategy in [Strategy::Replace, Strategy::ReplaceExceptSchedule] {
            bench.restart(bench.rules().clone());
            let (holder, answer) = against(bench, state, strategy);
            assert_eq!(answer.verdict, Verdict::Created, "{state} {strategy}");
            assert_eq!(answer.changed, []);
            assert_eq!(bench.job(holder.id), holder);
        }
    }
}

pub(super) fn replace_except_schedule_updates_a_scheduled_holder_in_place(bench: &mut Bench) {
    let at = bench.now + HOUR;
    let holder = bench.create(unique("k").scheduled_at(at));
    let incoming = unique("k")
        .on_conflict(Strategy::ReplaceExceptSchedule)
        .scheduled_at(at + HOUR)
        .queue("other")
        .priority(7)
        .args("[2]")
        .tags(&["new"]);
    let answer = bench.enqueue(incoming.clone());
    assert_eq!(answer.verdict, Verdict::Updated(vec!["queue", "priority", "args", "tags", "unique"]));
    assert_eq!(answer.job.id, holder);
    let found = bench.job(holder);
    assert_eq!(answer.job, found);
    assert_eq!(found.phase, Phase::Scheduled { at });
    assert_eq!(found.spec.scheduled_at.as_ref().map(|given| given.at), Some(at));
    assert_eq!((&found.spec.queue, &found.spec.args), (&incoming.spec.queue, &incoming.spec.args));
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.fetch(&["other"], 1)[0].id, holder);
}

pub(super) fn replace_except_schedule_replaces_any_other_holder_that_waits_or_runs(bench: &mut Bench) {
    for state in ALIVE.iter().filter(|state| *state != State::Scheduled) {
        let (holder, answer) = against(bench, state, Strategy::ReplaceExceptSchedule);
        assert_eq!(answer.verdict, Verdict::Replaced(vec![holder.id]), "{state}");
        assert_eq!(bench.state(holder.id), State::Cancelled);
        assert_eq!(bench.job(answer.job.id).spec.args.as_str(), "[2]");
    }
}

pub(super) fn a_holder_in_a_state_that_the_policy_does_not_name_does_not_count(bench: &mut Bench) {
    for state in State::ALL {
        bench.restart(bench.rules().clone());
        bench.create_in(state, unique("k"));
        let others = State::ALL.into_iter().filter(|other| *other != state).collect();
        bench.create(unique("k").states(others));
    }
}

pub(super) fn the_incoming_policy_decides_and_not_the_holders(bench: &mut Bench) {
    bench.create(unique("k").states(StateSet::of(&[State::Completed])).on_conflict(Strategy::Replace));
    assert_eq!(bench.enqueue(unique("k")).verdict, Verdict::Rejected);
    bench.create(unique("k").states(StateSet::of(&[State::Completed])));
}

pub(super) fn jobs_without_a_policy_never_conflict(bench: &mut Bench) {
    bench.create(plain());
    bench.create(plain());
    bench.create(unique("k"));
    bench.create(plain());
    assert_eq!(bench.totals().keys_held, 1);
}

pub(super) fn other_keys_do_not_conflict(bench: &mut Bench) {
    for key in ["a", "b", "c"] {
        bench.create(unique(key));
    }
    assert_eq!(bench.enqueue(unique("b")).verdict, Verdict::Rejected);
}

pub(super) fn a_key_is_free_as_soon_as_its_holder_ends(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        let first = bench.create_in(state, unique("k"));
        let second = bench.create(unique("k"));
        assert_ne!(first, second);
        bench.step(second, Event::Cancel).unwrap();
    }
}

pub(super) fn a_running_job_that_is_replaced_loses_its_lease(bench: &mut Bench) {
    let id = bench.create(unique("k"));
    let running = bench.fetch_one();
    bench.enqueue(unique("k").on_conflict(Strategy::Replace));
    let lost = Refusal::LeaseLost { id, state: State::Cancelled };
    assert_eq!(bench.heartbeat(&running), Err(lost.clone()));
    assert_eq!(bench.acknowledge(&running), Err(lost.clone()));
    assert_eq!(bench.fail(&running), Err(lost));
    assert_eq!(bench.state(id), State::Cancelled);
}

pub(super) fn replace_calls_off_every_holder_newest_first(bench: &mut Bench) {
    let (older, newer) = two_holders(bench);
    bench.pass(SECOND);
    let answer = bench.enqueue(unique("k").on_conflict(Strategy::Replace));
    assert_eq!(answer.verdict, Verdict::Replaced(vec![newer, older]));
    assert_eq!([older, newer].map(|id| bench.state(id)), [State::Cancelled; 2]);
    assert_eq!(bench.totals().keys_held, 1);
}

pub(super) fn of_several_holders_the_newest_answers(bench: &mut Bench) {
    let (older, newer) = two_holders(bench);
    for strategy in [Strategy::Reject, Strategy::Ignore] {
        assert_eq!(bench.enqueue(unique("k").on_conflict(strategy)).job.id, newer);
    }
    assert_eq!((bench.job(newer).ledger.count(), bench.job(older).ledger.count()), (2, 0));
}

pub(super) fn of_several_scheduled_holders_the_newest_is_updated(bench: &mut Bench) {
    let at = bench.now + HOUR;
    let draft = || unique("k").states(StateSet::of(&[State::Completed])).scheduled_at(at);
    let older = bench.create(draft());
    bench.pass(SECOND);
    let newer = bench.create(draft());
    let incoming = unique("k").on_conflict(Strategy::ReplaceExceptSchedule).args("[2]");
    assert_eq!(bench.enqueue(incoming).job.id, newer);
    assert_eq!(bench.job(newer).spec.args.as_str(), "[2]");
    assert_eq!(bench.job(older).spec.args.as_str(), "[]");
}

pub(super) fn an_older_holder_is_found_behind_newer_ones_that_do_not_count(bench: &mut Bench) {
    let (older, newer) = two_holders(bench);
    bench.step(newer, Event::Cancel).unwrap();
    let answer = bench.enqueue(unique("k"));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Rejected, older));
}

pub(super) fn dup_answer_always_points_to_live_or_finished_job(bench: &mut Bench) {
    for state in State::ALL {
        bench.restart(bench.rules().clone());
        let holder = bench.create_in(state, unique("k"));
        for strategy in [Strategy::Reject, Strategy::Ignore] {
            let answer = bench.enqueue(unique("k").states(StateSet::ALL).on_conflict(strategy));
            assert_eq!(answer.job.id, holder);
            assert_eq!(bench.get(answer.job.id), Some(answer.job), "{state} {strategy}");
        }
    }
}

pub(super) fn holders_still_hold_after_the_store_was_opened_again(bench: &mut Bench) {
    let waiting = bench.create_in(State::Scheduled, unique("a"));
    let running = bench.create_in(State::Active, unique("b"));
    let done = bench.create_in(State::Completed, unique("c"));
    bench.reopen();
    for (key, holder) in [("a", waiting), ("b", running), ("c", done)] {
        let answer = bench.enqueue(unique(key).states(StateSet::ALL));
        assert_eq!((answer.verdict, answer.job.id), (Verdict::Rejected, holder));
    }
    bench.create(unique("c"));
}

pub(super) fn a_taken_id_is_refused_before_uniqueness_is_asked(bench: &mut Bench) {
    let other = bench.create_in(State::Completed, plain());
    let holder = bench.create(unique("k"));
    let incoming = Box::new(unique("k").incoming(other));
    let refusal = bench.act(Action::Enqueue { incoming, memo: None }).unwrap_err();
    assert_eq!(refusal, Refusal::IdTaken { id: other, state: State::Completed });
    assert_eq!(bench.job(holder).ledger.count(), 0);
    assert_eq!(bench.state(other), State::Completed);
}

pub(super) fn a_cancelled_holder_frees_its_key_for_one(bench: &mut Bench) {
    bench.create(unique("k"));
    let running = bench.fetch_one();
    bench.step(running.id, Event::Cancel).unwrap();
    bench.create(unique("k"));
    assert_eq!(bench.enqueue(unique("k")).verdict, Verdict::Rejected);
    let claimant = holder_of(&running);
    let late = bench.step(running.id, Event::Acknowledge { claimant, result: None });
    assert_eq!(late, Err(Refusal::LeaseLost { id: running.id, state: State::Cancelled }));
}
