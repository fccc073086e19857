//! Limits on time: over all attempts, in the queue, between signs of life, and to clean up.

use hapax_core::{Claimant, Event, Fraction, Job, JobId, Overrun, Report, SpecPatch, State, TimeLimits};

use super::bench::{Bench, HOUR, MINUTE, SECOND, holder_of};
use super::draft::{Draft, job_key, plain};
use crate::Claim;

fn limited(draft: Draft, limits: TimeLimits) -> Draft {
    Draft { spec: hapax_core::Spec { limits, ..draft.spec }, ..draft }
}

fn within(total: std::time::Duration) -> TimeLimits {
    TimeLimits { total: Some(total), ..TimeLimits::default() }
}

fn waiting(enqueue: std::time::Duration) -> TimeLimits {
    TimeLimits { enqueue: Some(enqueue), ..TimeLimits::default() }
}

fn beating(heartbeat: std::time::Duration) -> TimeLimits {
    TimeLimits { heartbeat: Some(heartbeat), ..TimeLimits::default() }
}

/// The job after the time went by, which changed nothing before its end.
#[track_caller]
fn after(bench: &mut Bench, id: JobId, span: std::time::Duration) -> Job {
    let before = bench.state(id);
    bench.pass_almost(span);
    bench.advance();
    assert_eq!(bench.state(id), before, "not yet");
    bench.pass_and_advance(std::time::Duration::from_millis(1));
    bench.job(id)
}

#[track_caller]
fn ended_by(job: &Job, kind: &str, limit: std::time::Duration) {
    let newest = job.history.current().unwrap();
    assert_eq!((&*newest.kind, newest.overrun), (kind, Some(Overrun { limit, elapsed: limit })));
}

pub(super) fn limits_come_back_as_they_were_sent(bench: &mut Bench) {
    let limits = TimeLimits {
        total: Some(HOUR),
        enqueue: Some(MINUTE),
        heartbeat: Some(SECOND),
        grace: Some(std::time::Duration::ZERO),
    };
    let id = bench.create(limited(plain(), limits));
    bench.reopen();
    assert_eq!(bench.job(id).spec.limits, limits);
}

pub(super) fn a_job_that_takes_too_long_over_all_is_given_up_wherever_it_is(bench: &mut Bench) {
    for state in [State::Scheduled, State::Available, State::Pending, State::Active, State::Retryable] {
        let draft = limited(plain().attempts(9), within(SECOND * 20));
        let since = bench.now;
        let id = bench.create_in(state, draft);
        let left = (SECOND * 20).saturating_sub(bench.now.since(since));
        if state == State::Retryable || state == State::Scheduled {
            // It would go on by itself before.
            bench.pass(left);
            bench.advance();
            bench.advance();
        } else {
            after(bench, id, left);
        }
        let ended = bench.job(id);
        assert_eq!(ended.state(), State::Discarded, "{state}");
        ended_by(&ended, "total_timeout", SECOND * 20);
        bench.renew();
    }
}

pub(super) fn no_attempt_is_waited_for_that_could_not_end_in_time(bench: &mut Bench) {
    let draft = limited(plain().attempts(9).timeout(SECOND * 10), within(SECOND * 12));
    let id = bench.create(draft);
    let job = bench.fetch_one();
    // One second of pause and ten of work are eleven.
    bench.pass(SECOND);
    bench.fail(&job).unwrap();
    assert_eq!(bench.state(id), State::Retryable);
    bench.pass_and_advance(SECOND);
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    let ended = bench.job(id);
    assert_eq!(ended.state(), State::Discarded);
    let kinds: Vec<_> = ended.history.entries().iter().map(|entry| &*entry.kind).collect();
    assert_eq!(kinds.last(), Some(&"total_timeout"));
    assert_eq!(kinds.len(), 3, "both failures stand before it");
}

pub(super) fn a_job_that_nobody_starts_in_time_is_given_up(bench: &mut Bench) {
    for state in [State::Scheduled, State::Available, State::Pending] {
        let id = bench.create_in(state, limited(plain(), waiting(SECOND * 20)));
        bench.pass(SECOND * 20);
        bench.advance();
        bench.advance();
        let ended = bench.job(id);
        assert_eq!(ended.state(), State::Discarded, "{state}");
        assert_eq!(&*ended.history.current().unwrap().kind, "enqueue_ttl_expired");
        bench.renew();
    }
}

pub(super) fn a_job_that_was_started_may_wait_for_its_next_attempt(bench: &mut Bench) {
    let id = bench.create(limited(plain(), waiting(SECOND)));
    let job = bench.fetch_one();
    bench.pass(SECOND * 2);
    bench.fail(&job).unwrap();
    bench.pass_and_advance(SECOND * 2);
    assert_eq!(bench.state(id), State::Available);
    assert_eq!(bench.fetch_one().attempt, 2);
}

pub(super) fn a_fetch_that_comes_too_late_gets_nothing(bench: &mut Bench) {
    let id = bench.create(limited(plain(), waiting(SECOND)));
    bench.pass(SECOND);
    assert_eq!(bench.fetch_ids(1), []);
    ended_by(&bench.job(id), "enqueue_ttl_expired", SECOND);
}

pub(super) fn a_silent_worker_fails_its_attempt(bench: &mut Bench) {
    let id = bench.create(limited(plain().visibility_timeout(HOUR), beating(SECOND * 5)));
    let wish = Claim { visibility_timeout: Some(MINUTE), ..bench.wish(&["default"], 1) };
    bench.claim(wish);
    let stalled = after(bench, id, SECOND * 5);
    assert_eq!(stalled.state(), State::Retryable, "a failure, with a pause");
    ended_by(&stalled, "stalled", SECOND * 5);
}

pub(super) fn every_sign_of_life_counts(bench: &mut Bench) {
    let id = bench.create(limited(plain(), beating(SECOND * 5)));
    let job = bench.fetch_one();
    let claimant = || holder_of(&job);
    let report = Report { value: Some(Fraction::NONE), ..Report::default() };
    let signs = [
        Event::Heartbeat { claimant: claimant(), visibility_timeout: Some(SECOND) },
        Event::Progress { claimant: claimant(), report },
        Event::SaveCheckpoint {
            claimant: Claimant::UNNAMED,
            state: hapax_core::Json::null(),
            notes: hapax_core::Json::empty_object(),
        },
    ];
    for sign in signs {
        bench.pass(SECOND * 4);
        bench.step(id, sign).unwrap();
        bench.advance();
        assert_eq!(bench.state(id), State::Active);
    }
    assert_eq!(after(bench, id, SECOND * 5).state(), State::Retryable);
}

pub(super) fn an_attempt_has_time_to_clean_up(bench: &mut Bench) {
    let grace = TimeLimits { grace: Some(SECOND * 3), ..TimeLimits::default() };
    let id = bench.create(limited(plain().timeout(SECOND * 2), grace));
    bench.fetch_one();
    let over = after(bench, id, SECOND * 5);
    let newest = over.history.current().unwrap();
    assert_eq!((&*newest.kind, over.state()), ("timeout", State::Retryable));
    assert_eq!(newest.overrun, Some(Overrun { limit: SECOND * 2, elapsed: SECOND * 5 }));
}

pub(super) fn a_job_that_is_brought_back_has_all_its_time_again(bench: &mut Bench) {
    let limits = TimeLimits { enqueue: Some(MINUTE), ..within(MINUTE * 2) };
    let id = bench.create(limited(plain().dies_at_once(), limits));
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    bench.pass(HOUR);
    bench.step(id, Event::Revive { patch: SpecPatch::default() }).unwrap();
    bench.reopen();
    assert_eq!(bench.advance().next_due, Some(bench.now + MINUTE), "nothing is looked at before its time");
    let ended = after(bench, id, MINUTE);
    ended_by(&ended, "enqueue_ttl_expired", MINUTE);

    let named = bench.create(limited(job_key("k"), within(MINUTE)));
    bench.pass(SECOND * 50);
    assert_eq!(bench.enqueue(limited(job_key("k"), within(MINUTE))).job.id, named);
    ended_by(&after(bench, named, MINUTE), "total_timeout", MINUTE);
}
