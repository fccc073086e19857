//! Periods: from which moment of the holder they run, and the instant at which they end.

use std::time::Duration;

use hapax_core::unique::{Anchor, Strategy};
use hapax_core::{Event, State, StateSet, Verdict};

use super::bench::{Bench, DAY, HOUR, INSTANT, MINUTE};
use super::draft::{Draft, unique};

fn incoming(from: Anchor) -> Draft {
    unique("k").states(StateSet::ALL).period(HOUR, from)
}

/// The job is a duplicate until just before `span` from now, and none at that instant.
#[track_caller]
fn ends_after(bench: &mut Bench, span: Duration, from: Anchor) {
    bench.pass_almost(span);
    assert_eq!(bench.enqueue(incoming(from)).verdict, Verdict::Rejected, "just before the end");
    bench.pass(INSTANT);
    bench.create(incoming(from));
}

pub(super) fn a_period_from_creation_ends_that_long_after_it(bench: &mut Bench) {
    for state in State::ALL {
        bench.restart(bench.rules().clone());
        bench.create_in(state, unique("k"));
        ends_after(bench, HOUR, Anchor::CreatedAt);
    }
}

pub(super) fn a_period_from_the_schedule_runs_from_the_start_time(bench: &mut Bench) {
    bench.create(unique("k").scheduled_at(bench.now + MINUTE));
    ends_after(bench, MINUTE + HOUR, Anchor::ScheduledAt);
}

pub(super) fn a_period_from_the_schedule_of_an_unscheduled_job_runs_from_creation(bench: &mut Bench) {
    bench.create(unique("k"));
    bench.pass(MINUTE * 10);
    bench.complete_one();
    ends_after(bench, MINUTE * 50, Anchor::ScheduledAt);
}

pub(super) fn a_period_from_the_end_runs_from_the_end(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        bench.restart(bench.rules().clone());
        bench.create_in(state, unique("k"));
        ends_after(bench, HOUR, Anchor::FinishedAt);
    }
}

pub(super) fn a_period_from_the_end_is_open_while_the_holder_has_not_ended(bench: &mut Bench) {
    let id = bench.create_in(State::Pending, unique("k"));
    bench.pass(DAY * 300);
    assert_eq!(bench.enqueue(incoming(Anchor::FinishedAt)).job.id, id);
    bench.step(id, Event::Cancel).unwrap();
    ends_after(bench, HOUR, Anchor::FinishedAt);
}

pub(super) fn without_a_period_a_finished_holder_counts_as_long_as_it_is_kept(bench: &mut Bench) {
    let id = bench.create_in(State::Completed, unique("k"));
    bench.pass_almost(DAY * 7);
    bench.advance();
    assert_eq!(bench.enqueue(unique("k").states(StateSet::SUCCESSFUL)).job.id, id);
}

pub(super) fn unique_window_uses_documented_clock(bench: &mut Bench) {
    let holder = bench.create(unique("k").scheduled_at(bench.now + DAY));
    bench.pass(HOUR);
    bench.create(incoming(Anchor::CreatedAt).on_conflict(Strategy::Ignore));
    bench.step(*bench.ids().last().unwrap(), Event::Cancel).unwrap();
    let answer = bench.enqueue(unique("k").period(HOUR, Anchor::ScheduledAt));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Rejected, holder));
}

pub(super) fn a_clock_that_is_set_back_opens_a_window_again(bench: &mut Bench) {
    let holder = bench.create_in(State::Completed, unique("k"));
    bench.pass(HOUR * 2);
    bench.set_back(HOUR + MINUTE);
    let answer = bench.enqueue(incoming(Anchor::CreatedAt));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Rejected, holder));
}

pub(super) fn a_holder_past_its_window_does_not_hide_one_within_it(bench: &mut Bench) {
    let done_only = || unique("k").states(StateSet::of(&[State::Completed]));
    bench.create(done_only());
    bench.pass(MINUTE * 40);
    let newer = bench.create(done_only());
    bench.pass(MINUTE * 40);
    let answer = bench.enqueue(incoming(Anchor::CreatedAt).on_conflict(Strategy::Replace));
    assert_eq!(answer.verdict, Verdict::Replaced(vec![newer]));
}
