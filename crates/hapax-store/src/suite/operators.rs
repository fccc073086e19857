//! What operators do to stored jobs.

use std::sync::Arc;

use hapax_core::{Event, JobFilter, JobId, Phase, Priority, Refusal, State, StateSet};

use super::bench::{Bench, HOUR, SECOND, holder_of, went};
use super::draft::{plain, unique};
use crate::Change;

fn priority(number: i64) -> Event {
    Event::Reprioritize { priority: Priority::new(number).unwrap() }
}

fn only_if(states: &[State], event: Event) -> Event {
    let filter = JobFilter { states: StateSet::of(states), ..JobFilter::default() };
    Event::OnlyIf { filter: Arc::new(filter), event: Box::new(event) }
}

pub(super) fn a_discarded_job_is_tried_again_dead_letter_or_not(bench: &mut Bench) {
    let discarded = bench.create_in(State::Discarded, plain());
    let letter = bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    for id in [discarded, letter] {
        let change = bench.step(id, Event::Retry).unwrap();
        assert_eq!(change, went(State::Discarded, bench.job(id)));
        let job = bench.fetch_one();
        assert_eq!((job.id, job.attempt, job.fence), (id, 1, 2));
    }
    assert_eq!(bench.totals().dead_letters, 0);
}

pub(super) fn a_failed_job_is_tried_again_before_its_time(bench: &mut Bench) {
    let id = bench.create_in(State::Retryable, plain());
    let other = bench.create(plain());
    bench.step(id, Event::Retry).unwrap();
    assert_eq!(bench.fetch_ids(9), [other, id], "it joins the end of the line");
    assert_eq!(bench.job(id).attempt, 2);
}

pub(super) fn only_what_failed_is_tried_again(bench: &mut Bench) {
    let expected = StateSet::of(&[State::Retryable, State::Discarded]);
    for state in State::ALL.into_iter().filter(|state| !expected.contains(*state)) {
        let id = bench.create_in(state, plain());
        let refused = Refusal::WrongState { id, state, expected };
        assert_eq!(bench.step(id, Event::Retry), Err(refused), "{state}");
        bench.fetch(&["default"], 9);
    }
}

pub(super) fn a_job_that_is_tried_again_beside_a_holder_of_its_key_records_it(bench: &mut Bench) {
    let first = bench.create_in(State::Discarded, unique("k"));
    let second = bench.create(unique("k"));
    bench.step(first, Event::Retry).unwrap();
    assert_eq!(bench.job(first).reentered_beside, Some(second));
    assert_eq!(bench.job(second).reentered_beside, None);
    assert!(bench.try_enqueue(unique("k")).unwrap().refusal().is_some(), "the key is held again");
}

pub(super) fn what_has_ended_is_deleted_and_nothing_else(bench: &mut Bench) {
    for state in State::ALL {
        let id = bench.create_in(state, plain());
        let job = bench.job(id);
        if state.is_terminal() {
            assert_eq!(
                bench.step(id, Event::Delete),
                Ok(Change::Removed { job, followers: Vec::new() }),
                "{state}"
            );
            assert_eq!(bench.get(id), None);
            assert_eq!(bench.step(id, Event::Delete), Err(Refusal::NotFound(id)));
        } else {
            let refused = Refusal::WrongState { id, state, expected: StateSet::ENDED };
            assert_eq!(bench.step(id, Event::Delete), Err(refused), "{state}");
            assert_eq!(bench.job(id), job);
        }
        bench.fetch(&["default"], 9);
    }
}

pub(super) fn a_deleted_job_protects_no_window_any_longer(bench: &mut Bench) {
    let held = || unique("k").states(StateSet::ALL).period(HOUR, hapax_core::unique::Anchor::CreatedAt);
    let done = bench.create_in(State::Completed, held());
    assert!(bench.try_enqueue(held()).unwrap().refusal().is_some());
    bench.step(done, Event::Delete).unwrap();
    bench.create(held());
}

pub(super) fn a_job_whose_priority_changes_keeps_its_turn(bench: &mut Bench) {
    let ids: Vec<JobId> = [0, 5, 0, 5].map(|number| bench.create(plain().priority(number))).to_vec();
    bench.step(ids[2], priority(5)).unwrap();
    bench.step(ids[1], priority(0)).unwrap();
    bench.reopen();
    assert_eq!(bench.job(ids[2]).spec.priority, Priority::new(5).unwrap());
    assert_eq!(bench.fetch_ids(9), [ids[2], ids[3], ids[0], ids[1]]);
}

pub(super) fn the_priority_of_what_waits_changes_and_of_nothing_else(bench: &mut Bench) {
    for state in State::ALL {
        let id = bench.create_in(state, plain());
        let before = bench.job(id);
        match bench.step(id, priority(9)) {
            Ok(change) => {
                assert!(state.is_waiting(), "{state}");
                assert_eq!(change, went(state, bench.job(id)));
                assert_eq!(bench.job(id).phase, before.phase);
                assert_eq!(bench.job(id).spec.priority, Priority::new(9).unwrap());
            }
            Err(refusal) => {
                let expected = StateSet::WAITING;
                assert_eq!(refusal, Refusal::WrongState { id, state, expected });
                assert_eq!(bench.job(id), before);
            }
        }
        bench.fetch(&["default"], 9);
    }
}

pub(super) fn an_abandoned_job_goes_back_to_the_line_at_once(bench: &mut Bench) {
    bench.create(plain());
    let job = bench.fetch_one();
    bench.pass(SECOND);
    let claimant = holder_of(&job);
    bench.step(job.id, Event::Abandon { claimant: claimant.clone() }).unwrap();
    let back = bench.job(job.id);
    assert!(matches!(&back.phase, Phase::Available { lapsed: Some(_) }), "its worker may still complete it");
    assert_eq!(back.history.entries().last().map(|failure| &*failure.kind), Some("worker_death"));
    let again = bench.fetch_one();
    assert_eq!((again.id, again.attempt), (job.id, 2));
    let stale = bench.step(job.id, Event::Abandon { claimant });
    assert_eq!(
        stale,
        Err(Refusal::LeaseLost { id: job.id, state: State::Active }),
        "somebody else holds it now"
    );
}

pub(super) fn an_abandoned_last_attempt_ends_the_job(bench: &mut Bench) {
    bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    bench.step(job.id, Event::Abandon { claimant: holder_of(&job) }).unwrap();
    assert!(bench.job(job.id).phase.is_dead_letter());
}

pub(super) fn a_job_that_is_not_meant_any_longer_is_left_alone(bench: &mut Bench) {
    let id = bench.create(plain());
    let waiting = [State::Available, State::Scheduled];
    bench.fetch_one();
    let before = bench.job(id);
    assert_eq!(bench.step(id, only_if(&waiting, Event::Cancel)), Err(Refusal::NotMeant(id)));
    assert_eq!(bench.job(id), before);
    bench.step(id, only_if(&[State::Active], Event::Cancel)).unwrap();
    assert_eq!(bench.step(id, only_if(&[State::Completed], Event::Delete)), Err(Refusal::NotMeant(id)));
    bench.step(id, only_if(&[State::Cancelled], Event::Delete)).unwrap();
    assert_eq!(bench.step(id, only_if(&waiting, Event::Cancel)), Err(Refusal::NotFound(id)));
}

pub(super) fn a_guarded_retry_brings_a_key_back(bench: &mut Bench) {
    let first = bench.create_in(State::Discarded, unique("k"));
    let second = bench.create(unique("k"));
    bench.step(first, only_if(&[State::Discarded], Event::Retry)).unwrap();
    assert_eq!(bench.job(first).reentered_beside, Some(second));
}
