//! Attempts: how they end, how many there are, and that the end is the end.

use hapax_core::{Directive, Event, Handback, Json, Phase, Refusal, SpecPatch, State};

use super::bench::{Bench, HOUR, INSTANT, MINUTE, SECOND, holder_of, went};
use super::draft::plain;

pub(super) fn attempts_stay_below_their_limit_even_if_every_worker_dies(bench: &mut Bench) {
    let id = bench.create(plain().attempts(3));
    let mut deliveries = 0;
    while bench.state(id) != State::Discarded {
        deliveries += bench.fetch_ids(1).len();
        bench.pass(HOUR);
        bench.advance();
    }
    assert_eq!((deliveries, bench.job(id).attempt), (3, 3));
}

pub(super) fn a_failed_job_waits_and_is_tried_again(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    let change = bench.fail(&job).unwrap();
    assert_eq!(change.job().phase, Phase::Retryable { at: bench.now + SECOND });
    assert_eq!(bench.fetch_ids(1), []);
    bench.pass(SECOND);
    bench.advance();
    let again = bench.fetch_one();
    assert_eq!((again.id, again.attempt, again.fence), (id, 2, 2));
    assert_eq!(again.history.entries().len(), 1);
}

pub(super) fn every_way_to_fail_leads_where_it_should(bench: &mut Bench) {
    for (directive, handback, state, dead_letter) in [
        (Directive::Policy, Handback::Failed, State::Retryable, false),
        (Directive::Discard, Handback::Failed, State::Discarded, false),
        (Directive::DeadLetter, Handback::Failed, State::Discarded, true),
        (Directive::Policy, Handback::Requeue, State::Available, false),
    ] {
        bench.restart(bench.rules().clone());
        let id = bench.create(plain());
        let job = bench.fetch_one();
        bench.fail_with(&job, directive, handback).unwrap();
        assert_eq!(bench.state(id), state);
        assert_eq!(bench.job(id).phase.is_dead_letter(), dead_letter);
        assert_eq!(bench.job(id).history.entries().is_empty(), handback == Handback::Requeue);
    }
}

pub(super) fn an_attempt_that_runs_too_long_fails_heartbeats_or_not(bench: &mut Bench) {
    let id = bench.create(plain().timeout(MINUTE));
    let job = bench.fetch_one();
    bench.pass_almost(MINUTE);
    bench.heartbeat(&job).unwrap();
    assert_eq!(bench.advance().changes, []);
    bench.pass(INSTANT);
    bench.advance();
    assert_eq!(bench.state(id), State::Retryable);
    assert_eq!(bench.acknowledge(&job), Err(Refusal::LeaseLost { id, state: State::Retryable }));
}

pub(super) fn a_job_delivered_at_most_once_is_complete_when_it_is_fetched(bench: &mut Bench) {
    let id = bench.create(plain().at_most_once());
    let wish = bench.wish(&["default"], 1);
    let changes = bench.claim(wish);
    assert_eq!(changes, [went(State::Available, bench.job(id))]);
    assert_eq!(bench.job(id).phase, Phase::Completed { at: bench.now, result: None });
    assert_eq!(bench.job(id).fence, 1);
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.fetch_ids(1), []);
}

pub(super) fn finished_jobs_are_never_handed_out_again(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        let id = bench.create_in(state, plain());
        bench.reopen();
        bench.pass(HOUR);
        bench.advance();
        assert_eq!(bench.fetch_ids(10), []);
        assert_eq!(bench.state(id), state);
    }
}

pub(super) fn a_finished_job_refuses_everything_that_would_move_it(bench: &mut Bench) {
    for state in [State::Completed, State::Cancelled] {
        let id = bench.create_in(state, plain());
        let before = bench.job(id);
        for event in
            [Event::Cancel, Event::Activate, Event::Forget, Event::Revive { patch: SpecPatch::default() }]
        {
            bench.step(id, event).unwrap_err();
        }
        assert_eq!(bench.job(id), before);
    }
}

pub(super) fn a_pending_job_waits_until_it_is_activated(bench: &mut Bench) {
    let id = bench.create(plain().pending());
    bench.pass(HOUR * 1000);
    assert_eq!(bench.advance().next_due, None);
    assert_eq!(bench.fetch_ids(1), []);
    bench.step(id, Event::Activate).unwrap();
    assert_eq!(bench.fetch_ids(1), [id]);
}

pub(super) fn an_unknown_job_is_not_found_by_any_event(bench: &mut Bench) {
    let id = bench.new_id();
    for event in
        [Event::Cancel, Event::Activate, Event::Forget, Event::Revive { patch: SpecPatch::default() }]
    {
        assert_eq!(bench.step(id, event), Err(Refusal::NotFound(id)));
    }
    assert_eq!(bench.get(id), None);
}

pub(super) fn a_result_is_kept_as_it_came(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    let result = Some(Json::from_trusted(r#"{"n": 1.0, "big":12345678901234567890}"#));
    bench.step(id, Event::Acknowledge { claimant: holder_of(&job), result: result.clone() }).unwrap();
    bench.reopen();
    assert_eq!(bench.job(id).phase, Phase::Completed { at: bench.now, result });
}
