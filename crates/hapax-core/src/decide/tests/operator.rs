//! What operators do to stored jobs.

use super::*;

#[test]
fn a_retry_of_a_waiting_job_keeps_its_attempts_and_one_of_a_discarded_job_starts_again() {
    let failed = next(&claimed(&job(), token(1), at(0)), fail_with(error("x")), at(1));
    let early = next(&failed, Event::Retry, at(1));
    assert_eq!((early.state(), early.attempt, early.enqueued_at), (State::Available, 1, Some(at(1))));
    assert!(early.history.current().is_some(), "it is the same life");
    let mut gone = job_in(State::Discarded);
    gone.phase = Phase::Discarded { at: at(0), cause: Cause::Failed, dead_letter: false };
    gone.history.push(1, error("x"), at(0));
    gone.spec = Arc::new(Spec { expires_at: Some(GivenTime::computed(at(2))), ..(*gone.spec).clone() });
    let again = next(&gone, Event::Retry, at(9));
    assert_eq!((again.state(), again.attempt, again.fence), (State::Available, 0, gone.fence));
    assert!(again.history.current().is_none() && again.history.entries().len() == 1);
    assert!(again.spec.expires_at.is_none(), "somebody wants it run now");
}

#[test]
fn a_cancelled_job_is_not_tried_again() {
    let expected = StateSet::of(&[State::Retryable, State::Discarded]);
    let cancelled = job_in(State::Cancelled);
    let refused = Refusal::WrongState { id: cancelled.id, state: State::Cancelled, expected };
    assert_eq!(decide(&cancelled, Event::Retry, at(1), &rules()), Err(refused));
}

#[test]
fn a_change_of_priority_changes_nothing_else() {
    let waiting = job_in(State::Retryable);
    let priority = Priority::new(7).unwrap();
    let raised = next(&waiting, Event::Reprioritize { priority }, at(9));
    assert_eq!(raised.spec.priority, priority);
    let spec = Arc::new(Spec { priority: waiting.spec.priority, ..(*raised.spec).clone() });
    assert_eq!(Job { spec, ..raised }, waiting);
    let same = next(&waiting, Event::Reprioritize { priority: waiting.spec.priority }, at(9));
    assert!(Arc::ptr_eq(&same.spec, &waiting.spec), "nothing to write down");
}

#[test]
fn a_job_that_moves_to_another_queue_changes_nothing_else() {
    let waiting = Job { key: Some(Key::of_text("k")), ..job_in(State::Retryable) };
    let queue = QueueName::parse("other").unwrap();
    let moved = next(&waiting, Event::MoveTo { queue: queue.clone() }, at(9));
    assert_eq!(moved.spec.queue, queue);
    let spec = Arc::new(Spec { queue: waiting.spec.queue.clone(), ..(*moved.spec).clone() });
    assert_eq!(Job { spec, ..moved }, waiting);
    let same = next(&waiting, Event::MoveTo { queue: waiting.spec.queue.clone() }, at(9));
    assert!(Arc::ptr_eq(&same.spec, &waiting.spec), "nothing to write down");
}

#[test]
fn a_job_whose_queue_is_deleted_is_no_dead_letter_and_says_why() {
    let gone = next(&job_in(State::Pending), Event::LoseQueue, at(9));
    assert!(matches!(gone.phase, Phase::Discarded { dead_letter: false, .. }));
    let error = gone.history.current().unwrap();
    assert_eq!((&*error.kind, &*error.message), ("queue_deleted", "an operator deleted queue default"));
}

#[test]
fn an_abandoned_job_goes_back_with_its_reason_and_its_worker_may_still_complete_it() {
    let active = claimed(&job(), token(1), at(0));
    let abandon = |claimant| Event::Abandon { claimant };
    let back = next(&active, abandon(showing(token(1))), at(5));
    assert_eq!((back.state(), back.attempt), (State::Available, 1));
    assert_eq!(&*back.history.current().unwrap().kind, "worker_death");
    assert_eq!(next(&back, acknowledge_by(showing(token(1))), at(6)).state(), State::Completed);
    let lost = decide(&active, abandon(showing(token(2))), at(5), &rules());
    assert_eq!(lost, Err(Refusal::LeaseLost { id: active.id, state: State::Active }));
}

#[test]
fn what_is_not_meant_any_longer_is_left_alone() {
    let only = |states: &[State]| {
        let filter = crate::JobFilter { states: StateSet::of(states), ..crate::JobFilter::default() };
        Event::OnlyIf { filter: Arc::new(filter), event: Box::new(Event::Cancel) }
    };
    let active = job_in(State::Active);
    let refused = decide(&active, only(&[State::Available, State::Scheduled]), at(1), &rules());
    assert_eq!(refused, Err(Refusal::NotMeant(active.id)));
    assert_eq!(next(&active, only(&[State::Active]), at(1)).state(), State::Cancelled);
    assert_eq!(*only(&[]).bare(), Event::Cancel);
}
