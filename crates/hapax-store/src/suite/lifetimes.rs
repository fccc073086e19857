//! Lifetimes: expiry, retention, what is due when, and the end of the store.

use hapax_core::unique::Anchor;
use hapax_core::{
    Cause, Chance, Event, Phase, Refusal, Retention, Rules, State, StateSet, Timestamp, Verdict,
};

use super::bench::{Bench, DAY, HOUR, INSTANT, MINUTE, SECOND, went};
use super::draft::{plain, unique};
use super::wait;
use crate::{Advance, Change, QueueQuery, StoreError, Totals};

fn rules() -> Rules {
    let retention = Retention { completed: HOUR, cancelled: HOUR * 2, discarded: HOUR * 3 };
    Rules { retention, ..Rules::default() }
}

pub(super) fn a_scheduled_job_becomes_available_at_its_time_and_not_before(bench: &mut Bench) {
    let id = bench.create(plain().scheduled_at(bench.now + MINUTE));
    assert_eq!(bench.fetch_ids(1), []);
    bench.pass_almost(MINUTE);
    assert_eq!(bench.advance(), Advance { next_due: Some(bench.now + INSTANT), ..Advance::default() });
    bench.pass(INSTANT);
    let advance = bench.advance();
    assert_eq!(advance.changes, [went(State::Scheduled, bench.job(id))]);
    assert_eq!(advance.next_due, None);
    assert_eq!(bench.job(id).enqueued_at, Some(bench.now));
}

pub(super) fn timers_outlive_a_restart(bench: &mut Bench) {
    let scheduled = bench.create_in(State::Scheduled, plain());
    let retryable = bench.create_in(State::Retryable, plain());
    let active = bench.create_in(State::Active, plain());
    bench.reopen();
    assert_eq!(bench.advance().next_due, Some(bench.now + SECOND));
    bench.pass(HOUR);
    bench.reopen();
    let changes = bench.advance().changes;
    let due: Vec<_> = changes.iter().map(|change| change.job().id).collect();
    assert_eq!(due, [retryable, active, scheduled], "the most overdue first");
}

pub(super) fn an_advance_stops_at_its_limit_and_says_what_is_left(bench: &mut Bench) {
    let start = bench.now;
    for minutes in [5, 1, 4, 2, 3] {
        bench.create(plain().scheduled_at(start + MINUTE * minutes));
    }
    bench.pass(HOUR);
    let advance = bench.advance_by(2);
    assert_eq!((advance.changes.len(), advance.next_due), (2, Some(start + MINUTE * 3)));
    let advance = bench.advance_by(0);
    assert_eq!((advance.changes.len(), advance.next_due), (0, Some(start + MINUTE * 3)));
    let advance = bench.advance_by(3);
    assert_eq!((advance.changes.len(), advance.next_due), (3, None));
    assert_eq!(bench.fetch_ids(9), [1, 3, 4, 2, 0].map(|index: usize| bench.ids()[index]));
}

pub(super) fn a_job_takes_one_step_per_advance(bench: &mut Bench) {
    let id = bench.create(plain().visibility_timeout(MINUTE).expires_at(bench.now + SECOND));
    bench.fetch_one();
    bench.pass(HOUR);
    let advance = bench.advance();
    assert_eq!((advance.changes.len(), bench.state(id)), (1, State::Available));
    assert_eq!(advance.next_due, Some(bench.now - HOUR + SECOND), "it is due again, in the past");
    bench.advance();
    assert_eq!(bench.state(id), State::Discarded);
}

pub(super) fn an_advance_with_nothing_due_does_nothing(bench: &mut Bench) {
    assert_eq!(bench.advance(), Advance { next_due: None, ..Advance::default() });
    bench.create(plain());
    bench.create(plain().pending());
    assert_eq!(bench.advance(), Advance { next_due: None, ..Advance::default() });
}

pub(super) fn a_clock_that_is_set_back_makes_nothing_happen_early_or_twice(bench: &mut Bench) {
    let at = bench.now + MINUTE;
    let id = bench.create(plain().scheduled_at(at));
    bench.set_back(HOUR);
    assert_eq!(bench.advance().changes, []);
    bench.pass(HOUR + MINUTE);
    bench.advance();
    bench.set_back(HOUR);
    assert_eq!(bench.advance(), Advance { next_due: None, ..Advance::default() });
    assert_eq!(bench.fetch_ids(2), [id]);
}

pub(super) fn a_job_that_is_not_due_refuses_to_let_time_pass(bench: &mut Bench) {
    let id = bench.create_in(State::Scheduled, plain());
    let event = || Event::TimePassed { chance: Chance(0) };
    assert_eq!(bench.step(id, event()), Err(Refusal::NotDue(id)));
    bench.pass(HOUR);
    bench.step(id, event()).unwrap();
    assert_eq!(bench.state(id), State::Available);
    assert_eq!(bench.step(id, event()), Err(Refusal::NotDue(id)));
}

pub(super) fn a_waiting_job_expires(bench: &mut Bench) {
    let start = bench.now;
    for state in [State::Scheduled, State::Available, State::Pending] {
        let id = bench.create_in(state, plain().expires_at(bench.now + MINUTE));
        bench.pass_almost(MINUTE);
        assert_eq!(bench.advance().changes, []);
        bench.pass(INSTANT);
        bench.advance();
        let phase = Phase::Discarded { at: bench.now, cause: Cause::Expired, dead_letter: false };
        assert_eq!(bench.job(id).phase, phase, "{state}");
    }
    assert!(start < bench.now);
    assert_eq!(bench.fetch_ids(9), []);
}

pub(super) fn an_expired_job_ends_the_same_whoever_finds_out(bench: &mut Bench) {
    let at = bench.now + MINUTE;
    let mut found_out = |by_claim: bool| {
        let id = bench.create(plain().expires_at(at));
        let job = bench.fetch_one();
        bench.fail(&job).unwrap();
        bench.pass(SECOND);
        bench.advance();
        bench.now = at;
        if by_claim {
            bench.fetch_ids(1);
        } else {
            bench.advance();
        }
        let job = bench.job(id);
        bench.now = at - MINUTE;
        (job.phase, job.retry_delay, job.attempt, job.history)
    };
    let (claimed, advanced) = (found_out(true), found_out(false));
    assert_eq!(claimed, advanced);
    assert_eq!(claimed.1, None, "there is no next attempt to wait for");
}

pub(super) fn an_expired_holder_frees_its_key_when_it_is_found_out(bench: &mut Bench) {
    let holder = bench.create(unique("k").expires_at(bench.now + MINUTE));
    bench.pass(MINUTE);
    assert_eq!(bench.enqueue(unique("k")).verdict, Verdict::Rejected);
    bench.advance();
    bench.create(unique("k"));
    assert_eq!(bench.state(holder), State::Discarded);
}

pub(super) fn finished_jobs_are_kept_for_their_time_and_then_removed(bench: &mut Bench) {
    bench.restart(rules());
    for (state, kept) in
        [(State::Completed, HOUR), (State::Cancelled, HOUR * 2), (State::Discarded, HOUR * 3)]
    {
        let id = bench.create_in(state, plain());
        let job = bench.job(id);
        assert_eq!(bench.advance().next_due, Some(bench.now + kept));
        bench.pass_almost(kept);
        assert_eq!(bench.advance().changes, []);
        bench.pass(INSTANT);
        assert_eq!(bench.advance().changes, [Change::Removed { job, followers: Vec::new() }]);
        assert_eq!(bench.get(id), None);
        bench.reopen();
        assert_eq!(bench.get(id), None);
    }
}

pub(super) fn a_removed_job_leaves_its_id_and_its_key_free(bench: &mut Bench) {
    bench.restart(rules());
    let id = bench.create_in(State::Completed, unique("k"));
    bench.pass(HOUR);
    bench.advance();
    let incoming = Box::new(unique("k").states(StateSet::ALL).incoming(id));
    bench.act(crate::Action::Enqueue { incoming, memo: None }).unwrap();
    assert_eq!((bench.state(id), bench.job(id).fence), (State::Available, 0));
}

pub(super) fn a_finished_job_stays_as_long_as_its_own_window_is_open(bench: &mut Bench) {
    bench.restart(rules());
    let draft = || unique("k").states(StateSet::ALL).period(DAY, Anchor::FinishedAt);
    let id = bench.create_in(State::Completed, draft());
    bench.pass_almost(DAY);
    assert_eq!(bench.advance(), Advance { next_due: Some(bench.now + INSTANT), ..Advance::default() });
    assert_eq!(bench.enqueue(draft()).job.id, id);
    bench.pass(INSTANT);
    assert_eq!(bench.advance().changes.len(), 1);
    assert_eq!(bench.get(id), None);
}

pub(super) fn a_window_that_does_not_name_the_end_keeps_nothing_longer(bench: &mut Bench) {
    bench.restart(rules());
    let id = bench.create_in(State::Completed, unique("k").period(DAY, Anchor::FinishedAt));
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.get(id), None);
}

pub(super) fn a_reset_removes_everything(bench: &mut Bench) {
    for state in State::ALL {
        bench.create_in(state, unique(state.name()));
        bench.fetch(&["default"], 9);
    }
    bench.pause("other");
    wait(bench.store().reset()).unwrap();
    assert_eq!(bench.totals(), Totals::default());
    let queues = wait(bench.store().queues(QueueQuery { limit: 9, ..QueueQuery::default() })).unwrap();
    assert_eq!((queues.items, queues.total), (vec![], 0));
    assert!(bench.ids().iter().all(|id| bench.get(*id).is_none()));
    bench.pass(DAY * 100);
    assert_eq!(bench.advance(), Advance { next_due: None, ..Advance::default() });
    bench.create(unique("waits"));
    bench.reopen();
    assert_eq!(bench.fetch_ids(9).len(), 1);
}

pub(super) fn a_closed_store_says_so(bench: &mut Bench) {
    let id = bench.create(plain());
    let wish = bench.wish(&["default"], 1);
    bench.close();
    let store = bench.store();
    assert!(matches!(wait(store.commit(Vec::new())), Err(StoreError::Closed)));
    assert!(matches!(wait(store.claim(wish)), Err(StoreError::Closed)));
    assert!(matches!(wait(store.advance(Timestamp::MAX, 1, Chance(0))), Err(StoreError::Closed)));
    assert!(matches!(wait(store.get(id)), Err(StoreError::Closed)));
    assert!(matches!(wait(store.totals()), Err(StoreError::Closed)));
}
