//! Successors: in which commit they are let go, and in which they are not.

use hapax_core::unique::Strategy;
use hapax_core::{Directive, Event, Handback, Job, JobId, Phase, State, StateSet, Verdict};

use super::bench::{Bench, HOUR, MINUTE, SECOND, release, successors_of, waits_for};
use super::draft::{Draft, plain, unique};
use crate::Change;

fn latest() -> Draft {
    unique("k").queue_latest()
}

/// A running job as drafted, and its successor.
fn pair(bench: &mut Bench, running: Draft) -> (Job, JobId) {
    let id = bench.create_in(State::Active, running);
    bench.pass(SECOND);
    let running = bench.job(id);
    let waiting = bench.create(latest().args("[2]"));
    assert_eq!(waits_for(&bench.job(waiting)), Some(id));
    (running, waiting)
}

/// The change let the successor go, in the same commit, and says so.
#[track_caller]
fn let_go(bench: &mut Bench, change: &Change, waiting: JobId) {
    let job = bench.job(waiting);
    assert_eq!(job.phase, Phase::Available { lapsed: None });
    assert_eq!((job.activated_at, job.enqueued_at), (Some(bench.now), Some(bench.now)));
    assert_eq!(successors_of(change), [job]);
    assert_eq!(bench.fetch_ids(9), [waiting]);
}

/// The change did not let the successor go.
#[track_caller]
fn still_waits(bench: &Bench, change: &Change, waiting: JobId) {
    assert_eq!(successors_of(change), []);
    assert_eq!(waits_for(&bench.job(waiting)), Some(change.job().id));
}

/// The only thing that is due.
#[track_caller]
fn due(bench: &Bench) -> Change {
    let mut changes = bench.advance().changes;
    assert_eq!(changes.len(), 1, "one thing is due: {changes:?}");
    changes.remove(0)
}

pub(super) fn a_completed_job_lets_its_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let change = bench.acknowledge(&running).unwrap();
    let_go(bench, &change, waiting);
}

pub(super) fn a_cancelled_job_lets_its_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let change = bench.step(running.id, Event::Cancel).unwrap();
    let_go(bench, &change, waiting);
}

pub(super) fn a_job_that_failed_for_good_lets_its_successor_go(bench: &mut Bench) {
    for directive in [Directive::Discard, Directive::DeadLetter, Directive::Policy] {
        bench.renew();
        let (running, waiting) = pair(bench, latest().attempts(1));
        let change = bench.fail_with(&running, directive, Handback::Failed).unwrap();
        assert_eq!(bench.state(running.id), State::Discarded);
        let_go(bench, &change, waiting);
    }
}

pub(super) fn a_lease_that_runs_out_at_last_lets_the_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest().attempts(1));
    bench.pass(HOUR);
    let change = due(bench);
    assert_eq!(bench.state(running.id), State::Discarded);
    let_go(bench, &change, waiting);
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.state(waiting), State::Active, "a late ack of the old one changes nothing for it");
}

pub(super) fn an_attempt_that_runs_too_long_at_last_lets_the_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest().attempts(1).timeout(MINUTE));
    bench.pass(MINUTE);
    let change = due(bench);
    assert_eq!(bench.state(running.id), State::Discarded);
    let_go(bench, &change, waiting);
}

pub(super) fn a_job_that_loses_its_key_lets_its_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let change = bench.step(running.id, release()).unwrap();
    assert_eq!(bench.state(running.id), State::Active);
    let_go(bench, &change, waiting);
    bench.acknowledge(&running).unwrap();
}

pub(super) fn a_job_that_expires_in_line_lets_its_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest().expires_at(bench.now + MINUTE));
    bench.fail_with(&running, Directive::Policy, Handback::Requeue).unwrap();
    bench.pass(MINUTE);
    let change = due(bench);
    assert_eq!(bench.state(running.id), State::Discarded);
    let_go(bench, &change, waiting);
}

pub(super) fn a_job_that_expires_in_a_claim_hands_it_to_its_successor(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest().expires_at(bench.now + MINUTE));
    bench.fail_with(&running, Directive::Policy, Handback::Requeue).unwrap();
    bench.pass(MINUTE);
    let wish = bench.wish(&["default"], 1);
    let changes = bench.claim(wish);
    let met: Vec<_> = changes.iter().map(|change| change.job().id).collect();
    assert_eq!(met, [running.id, waiting], "it is in the line before the claim goes on");
    assert_eq!(successors_of(&changes[0])[0].id, waiting);
    assert_eq!([running.id, waiting].map(|id| bench.state(id)), [State::Discarded, State::Active]);
}

pub(super) fn a_late_ack_lets_the_successor_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.state(running.id), State::Available);
    let change = bench.acknowledge(&running).unwrap();
    let_go(bench, &change, waiting);
}

pub(super) fn a_replaced_job_lets_its_successor_go_beside_the_new_one(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let replacing = unique("k").states(StateSet::of(&[State::Active])).on_conflict(Strategy::Replace);
    let answer = bench.enqueue(replacing);
    assert_eq!(answer.verdict, Verdict::Replaced(vec![running.id]));
    let changed = [(State::Active, bench.job(running.id)), (State::Pending, bench.job(waiting))];
    assert_eq!(answer.changed, changed, "whoever changed in this commit is named");
    assert_eq!(bench.job(waiting).activated_at, Some(bench.now));
    assert_eq!(bench.fetch_ids(9), [waiting, answer.job.id], "in the order in which they became available");
}

pub(super) fn a_successor_that_is_replaced_with_its_predecessor_does_not_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let answer = bench.enqueue(unique("k").on_conflict(Strategy::Replace));
    assert_eq!(answer.verdict, Verdict::Replaced(vec![waiting, running.id]));
    assert_eq!(answer.changed.len(), 2);
    assert_eq!([running.id, waiting].map(|id| bench.state(id)), [State::Cancelled; 2]);
    assert_eq!(bench.fetch_ids(9), [answer.job.id]);
}

pub(super) fn a_job_that_will_be_tried_again_keeps_its_successor_waiting(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let change = bench.fail(&running).unwrap();
    still_waits(bench, &change, waiting);
    bench.pass(SECOND);
    let change = due(bench);
    still_waits(bench, &change, waiting);
    let again = bench.fetch_one();
    let change = bench.acknowledge(&again).unwrap();
    let_go(bench, &change, waiting);
}

pub(super) fn a_job_that_is_handed_back_keeps_its_successor_waiting(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let change = bench.fail_with(&running, Directive::Policy, Handback::Requeue).unwrap();
    still_waits(bench, &change, waiting);
    assert_eq!(bench.fetch_ids(9), [running.id]);
}

pub(super) fn a_lease_that_runs_out_with_attempts_left_keeps_the_successor_waiting(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest().timeout(HOUR * 9));
    let change = bench.heartbeat(&running).unwrap();
    still_waits(bench, &change, waiting);
    bench.pass(HOUR);
    let change = due(bench);
    still_waits(bench, &change, waiting);
    assert_eq!(bench.fetch_ids(9), [running.id]);
}

pub(super) fn a_successor_with_a_start_ahead_waits_for_that_too(bench: &mut Bench) {
    bench.create_in(State::Active, latest());
    let running = bench.job(bench.ids()[0]);
    let at = bench.now + HOUR;
    let waiting = bench.create(latest().scheduled_at(at));
    bench.pass(SECOND);
    let change = bench.acknowledge(&running).unwrap();
    let job = bench.job(waiting);
    assert_eq!((&job.phase, job.activated_at), (&Phase::Scheduled { at }, Some(bench.now)));
    assert_eq!(successors_of(&change), [job]);
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.fetch_ids(9), [waiting]);
}

pub(super) fn a_successor_takes_its_turn_when_it_is_let_go(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    let others = [bench.create(plain()), bench.create(plain())];
    bench.acknowledge(&running).unwrap();
    let last = bench.create(plain());
    assert_eq!(bench.fetch_ids(9), [others[0], others[1], waiting, last]);
}

pub(super) fn several_that_wait_for_one_job_go_in_the_order_of_their_creation(bench: &mut Bench) {
    let (running, first) = pair(bench, latest());
    bench.step(first, release()).unwrap();
    let second = bench.create(latest());
    let change = bench.acknowledge(&running).unwrap();
    let gone: Vec<_> = successors_of(&change).iter().map(|job| job.id).collect();
    assert_eq!(gone, [first, second]);
    assert_eq!(bench.fetch_ids(9), [first, second]);
}

pub(super) fn a_successor_is_let_go_after_the_store_was_opened_again(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    bench.reopen();
    let change = bench.acknowledge(&running).unwrap();
    let_go(bench, &change, waiting);
}

pub(super) fn a_successor_in_another_queue_is_counted_there(bench: &mut Bench) {
    let (running, waiting) = pair(bench, latest());
    bench.update(waiting, latest().queue("other"));
    let count = |bench: &Bench, state| bench.queue("other").unwrap().counts.of(state);
    assert_eq!(count(bench, State::Pending), 1);
    bench.acknowledge(&running).unwrap();
    assert_eq!((count(bench, State::Pending), count(bench, State::Available)), (0, 1));
    assert_eq!(bench.fetch(&["other"], 9)[0].id, waiting);
}
