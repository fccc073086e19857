//! What admitting a job stores.

use super::*;
use crate::testing::{at, id, job_in, rules, spec};
use crate::unique::{Field, Replacement, Strategy, UniquePolicy};
use crate::{GivenTime, Json, Priority, QueueName, StateSet};

fn unique(on_conflict: Strategy) -> UniquePolicy {
    UniquePolicy { states: StateSet::ALL, on_conflict, ..UniquePolicy::default() }
}

fn incoming(policy: Option<UniquePolicy>) -> Incoming {
    Incoming {
        id: id(9),
        key: policy.as_ref().map(|_| Key::of_text("k")),
        spec: Box::new(Spec { unique: policy.map(Into::into), args: Json::from_trusted("[9]"), ..spec() }),
        pending: false,
        after: None,
        bound: None,
        barred: None,
        request_id: Some("req_1".into()),
    }
}

fn holder(state: State) -> Job {
    Job { key: Some(Key::of_text("k")), ..job_in(state) }
}

fn scheduled(mut incoming: Incoming, seconds: i64) -> Incoming {
    incoming.spec.scheduled_at = Some(GivenTime::computed(at(seconds)));
    incoming
}

fn admit(incoming: Incoming, holders: Vec<Job>) -> Admission {
    incoming.admit(holders, at(50), &rules()).unwrap()
}

fn replacing(fields: &[Field]) -> UniquePolicy {
    let fields = fields.iter().copied().collect();
    UniquePolicy { replace: Some(Replacement::everywhere(fields)), ..unique(Strategy::Reject) }
}

#[test]
fn a_job_starts_where_its_request_says() {
    let state = |incoming: Incoming| admit(incoming, vec![]).job.state();
    assert_eq!(state(incoming(None)), State::Available);
    assert_eq!(state(scheduled(incoming(None), 51)), State::Scheduled);
    assert_eq!(state(scheduled(incoming(None), 50)), State::Available);
    assert_eq!(state(Incoming { pending: true, ..scheduled(incoming(None), 51) }), State::Pending);
}

#[test]
fn only_an_available_job_has_been_enqueued() {
    assert_eq!(admit(incoming(None), vec![]).job.enqueued_at, Some(at(50)));
    assert_eq!(admit(scheduled(incoming(None), 51), vec![]).job.enqueued_at, None);
}

#[test]
fn a_job_without_a_policy_never_conflicts() {
    let admission = admit(incoming(None), vec![]);
    assert_eq!(admission.verdict, Verdict::Created);
    assert_eq!(admission.job.key, None);
}

#[test]
fn a_turned_away_duplicate_stands_in_the_holder_s_ledger() {
    for (strategy, verdict) in [(Strategy::Reject, Verdict::Rejected), (Strategy::Ignore, Verdict::Existing)]
    {
        for state in State::ALL {
            let admission = admit(incoming(Some(unique(strategy))), vec![holder(state)]);
            assert_eq!(admission.verdict, verdict);
            let ledger = &admission.job.ledger;
            assert_eq!((ledger.count(), ledger.last_at()), (1, Some(at(50))));
            assert_eq!(ledger.recent()[0].outcome, verdict.name());
            assert_eq!(ledger.recent()[0].request_id.as_deref(), Some("req_1"));
            let untouched = Job { ledger: Ledger::default(), ..admission.job.clone() };
            assert_eq!(untouched, holder(state));
            assert_eq!(admission.changed, vec![(state, admission.job)]);
        }
    }
}

#[test]
fn replace_calls_off_every_living_holder_and_leaves_finished_ones() {
    for state in State::ALL {
        let admission = admit(incoming(Some(unique(Strategy::Replace))), vec![holder(state)]);
        assert_eq!(admission.job.id, id(9));
        if state.is_terminal() {
            assert_eq!((admission.verdict, admission.changed), (Verdict::Created, vec![]));
        } else {
            assert_eq!(admission.verdict, Verdict::Replaced(vec![id(1)]));
            let (before, cancelled) = &admission.changed[0];
            assert_eq!(*before, state);
            assert_eq!(cancelled.phase, Phase::Cancelled { at: at(50), from: state });
        }
    }
}

#[test]
fn replace_except_schedule_renews_everything_but_id_and_schedule() {
    let mut old = holder(State::Scheduled);
    let schedule = Some(GivenTime::computed(at(100)));
    old.spec = Arc::new(Spec { scheduled_at: schedule.clone(), ..(*old.spec).clone() });
    let mut new = scheduled(incoming(Some(unique(Strategy::ReplaceExceptSchedule))), 900);
    new.spec.priority = Priority::new(5).unwrap();
    let admission = admit(new.clone(), vec![old]);
    assert_eq!(admission.verdict, Verdict::Updated(vec!["priority", "args", "unique"]));
    assert_eq!((admission.job.id, admission.job.state()), (id(1), State::Scheduled));
    assert_eq!(*admission.job.spec, Spec { scheduled_at: schedule, ..*new.spec });
    assert_eq!(admission.job.ledger.count(), 1);
}

#[test]
fn the_replace_member_overwrites_just_the_listed_fields() {
    let mut new = incoming(Some(replacing(&[Field::Priority, Field::Queue, Field::MaxAttempts])));
    new.spec.priority = Priority::new(7).unwrap();
    new.spec.queue = QueueName::parse("other").unwrap();
    new.spec.retry.max_attempts = 9;
    let admission = admit(new, vec![holder(State::Active)]);
    assert_eq!(admission.verdict, Verdict::Updated(vec!["priority", "queue", "max_attempts"]));
    let spec = &admission.job.spec;
    assert_eq!((spec.priority.get(), spec.queue.as_str(), spec.retry.max_attempts), (7, "other", 9));
    assert_eq!(spec.args.as_str(), "[1]");
    assert_eq!(admission.job.state(), State::Active);
}

#[test]
fn a_replaced_start_moves_a_waiting_holder() {
    let moved = |state, seconds| {
        let new = scheduled(incoming(Some(replacing(&[Field::ScheduledAt]))), seconds);
        admit(new, vec![holder(state)]).job.phase
    };
    assert_eq!(moved(State::Scheduled, 70), Phase::Scheduled { at: at(70) });
    assert_eq!(moved(State::Available, 70), Phase::Scheduled { at: at(70) });
    assert_eq!(moved(State::Scheduled, 10), Phase::Available { lapsed: None });
    assert_eq!(moved(State::Retryable, 70), Phase::Retryable { at: at(70) });
    for state in [State::Pending, State::Active, State::Completed, State::Cancelled, State::Discarded] {
        assert_eq!(moved(state, 70), holder(state).phase);
    }
}

#[test]
fn too_many_holders_are_not_replaced_in_one_step() {
    let holders: Vec<Job> = (0..=REPLACED_MAX as u64)
        .map(|n| Job {
            id: JobId::new(at(0), [[0; 2].as_slice(), &n.to_be_bytes()].concat().try_into().unwrap()),
            ..holder(State::Available)
        })
        .collect();
    let replacing = || incoming(Some(unique(Strategy::Replace)));
    let refusal = replacing().admit(holders.clone(), at(50), &rules()).unwrap_err();
    assert_eq!(refusal, Refusal::TooManyHolders { count: REPLACED_MAX + 1, max: REPLACED_MAX });
    assert_eq!(admit(replacing(), holders[1..].to_vec()).changed.len(), REPLACED_MAX);
}

mod in_place;
