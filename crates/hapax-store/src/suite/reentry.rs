//! Coming back: retry, rescue, promotion and revival never ask about keys, never fail because of one, and
//! record whom they found.

use hapax_core::{Event, Job, SpecPatch, State, StateSet};

use super::bench::{Bench, HOUR, MINUTE, SECOND, revived};
use super::draft::{Draft, plain, unique};

/// A job whose policy has holes: it wants to be alone only while it waits for its turn.
fn alone_in_line(key: &str) -> Draft {
    unique(key).states(StateSet::of(&[State::Available, State::Scheduled]))
}

fn revive() -> Event {
    Event::Revive { patch: SpecPatch::default() }
}

/// Fetches the next job and lets it fail.
#[track_caller]
fn fail_one(bench: &mut Bench) -> Job {
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    bench.job(job.id)
}

pub(super) fn operator_retry_beside_a_live_holder_succeeds_and_is_recorded(bench: &mut Bench) {
    let dead = bench.create(unique("k").dies_at_once());
    assert!(fail_one(bench).phase.is_dead_letter());
    let live = bench.create(unique("k"));
    let change = bench.step(dead, revive()).unwrap();
    assert_eq!(change, revived(bench.job(dead)));
    assert_eq!(bench.job(dead).reentered_beside, Some(live));
    assert_eq!(bench.job(live).reentered_beside, None);
    assert_eq!([dead, live].map(|id| bench.state(id)), [State::Available; 2]);
    assert_eq!(bench.totals().keys_held, 2);
    assert_eq!(bench.fetch_ids(2), [live, dead]);
}

pub(super) fn operator_retry_of_the_only_holder_records_nothing(bench: &mut Bench) {
    let dead = bench.create(unique("k").dies_at_once());
    fail_one(bench);
    bench.step(dead, revive()).unwrap();
    assert_eq!(bench.job(dead).reentered_beside, None);
    assert_eq!(bench.enqueue(unique("k")).job.id, dead, "it holds its key again");
}

pub(super) fn two_retryables_same_key_promote_together(bench: &mut Bench) {
    let first = bench.create(alone_in_line("k"));
    fail_one(bench);
    bench.pass(SECOND / 2);
    let second = bench.create(alone_in_line("k"));
    fail_one(bench);
    assert_eq!([first, second].map(|id| bench.state(id)), [State::Retryable; 2]);
    bench.pass(MINUTE);
    assert_eq!(bench.advance().changes.len(), 2);
    assert_eq!([first, second].map(|id| bench.state(id)), [State::Available; 2]);
    assert_eq!(bench.job(first).reentered_beside, None);
    assert_eq!(bench.job(second).reentered_beside, Some(first));
    assert_eq!(bench.fetch_ids(2), [first, second]);
}

pub(super) fn promote_scheduled_unique_never_self_conflicts(bench: &mut Bench) {
    let states = [StateSet::INCOMPLETE, StateSet::ALL, StateSet::of(&[State::Available])];
    for (number, states) in states.into_iter().enumerate() {
        let at = bench.now + MINUTE;
        let id = bench.create(unique(&number.to_string()).states(states).scheduled_at(at));
        bench.pass(MINUTE);
        assert_eq!(bench.advance().changes.len(), 1);
        assert_eq!(bench.state(id), State::Available);
        assert_eq!(bench.job(id).reentered_beside, None);
    }
}

pub(super) fn rescue_with_live_duplicate(bench: &mut Bench) {
    let stalled = bench.create(alone_in_line("k"));
    let lost = bench.fetch_one();
    let live = bench.create(alone_in_line("k"));
    bench.pass(HOUR);
    assert_eq!(bench.advance().changes.len(), 1);
    assert_eq!([stalled, live].map(|id| bench.state(id)), [State::Available; 2]);
    assert_eq!(bench.job(stalled).reentered_beside, Some(live));
    bench.acknowledge(&lost).unwrap();
    assert_eq!(bench.fetch_ids(2), [live]);
}

pub(super) fn a_job_that_is_handed_back_beside_another_records_it(bench: &mut Bench) {
    use hapax_core::{Directive, Handback};
    let id = bench.create(alone_in_line("k"));
    let running = bench.fetch_one();
    let other = bench.create(alone_in_line("k"));
    bench.fail_with(&running, Directive::Policy, Handback::Requeue).unwrap();
    assert_eq!(bench.job(id).reentered_beside, Some(other));
    assert_eq!(bench.fetch_ids(2), [other, id]);
}

pub(super) fn a_retry_within_the_states_of_its_policy_is_no_return(bench: &mut Bench) {
    let id = bench.create(unique("k"));
    let beside = unique("k").states(StateSet::of(&[State::Completed]));
    bench.create(beside);
    assert_eq!(fail_one(bench).id, id);
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.state(id), State::Available);
    assert_eq!(bench.job(id).reentered_beside, None, "it never left");
}

pub(super) fn of_several_holders_a_returning_job_records_the_newest(bench: &mut Bench) {
    let dead = bench.create(unique("k").dies_at_once());
    fail_one(bench);
    let beside = || unique("k").states(StateSet::of(&[State::Completed]));
    bench.create(beside());
    bench.pass(SECOND);
    let newest = bench.create(beside());
    bench.step(dead, revive()).unwrap();
    assert_eq!(bench.job(dead).reentered_beside, Some(newest));
}

pub(super) fn what_a_returning_job_recorded_is_kept(bench: &mut Bench) {
    let dead = bench.create(unique("k").dies_at_once());
    fail_one(bench);
    let live = bench.create(unique("k"));
    bench.step(dead, revive()).unwrap();
    bench.reopen();
    let ids = [bench.complete_one(), bench.complete_one()];
    assert_eq!(ids, [live, dead]);
    assert_eq!(bench.job(dead).reentered_beside, Some(live));
}

pub(super) fn conflict_is_isolated_per_job(bench: &mut Bench) {
    // Pairs that return beside each other, with others between them.
    for number in 0..20 {
        for _ in 0..2 {
            bench.create(alone_in_line(&format!("k{number}")));
            fail_one(bench);
        }
        bench.create_in(State::Retryable, plain().queue("default"));
    }
    bench.pass(HOUR);
    assert_eq!(bench.advance().changes.len(), 60);
    assert_eq!(bench.totals().counts.of(State::Available), 60);
    let beside = bench.ids().iter().filter(|id| bench.job(**id).reentered_beside.is_some());
    assert_eq!(beside.count(), 20);
    assert_eq!(bench.fetch_ids(100).len(), 60);
}

pub(super) fn rescuer_progress_past_full_page_of_unrescuable(bench: &mut Bench) {
    const PAGE: usize = 5;
    for _ in 0..4 * PAGE {
        bench.create(plain().visibility_timeout(HOUR * 10));
    }
    bench.fetch_ids(100);
    let lost = bench.create(plain().visibility_timeout(MINUTE));
    bench.fetch_one();
    bench.pass(MINUTE);
    let advance = bench.advance_by(PAGE);
    assert_eq!(advance.changes.iter().map(|change| change.job().id).collect::<Vec<_>>(), [lost]);
    assert_eq!(advance.next_due, Some(bench.now - MINUTE + HOUR * 10));
}

pub(super) fn pages_of_lapsed_leases_are_worked_off_one_after_the_other(bench: &mut Bench) {
    for _ in 0..12 {
        bench.create(alone_in_line("k").states(StateSet::of(&[State::Retryable])));
    }
    bench.fetch_ids(100);
    bench.pass(HOUR);
    let pages: Vec<usize> = (0..4).map(|_| bench.advance_by(5).changes.len()).collect();
    assert_eq!(pages, [5, 5, 2, 0]);
    assert_eq!(bench.totals().counts.of(State::Available), 12);
}
