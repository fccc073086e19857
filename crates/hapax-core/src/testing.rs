//! Jobs for tests: a test names only what it is about.

use std::sync::Arc;
use std::time::Duration;

use crate::unique::Ledger;
use crate::{
    Cause, Delivery, Event, History, Job, JobId, JobType, Json, KeptFor, Lease, LeaseToken, Phase, Priority,
    QueueName, RetryPolicy, Rules, Spec, State, TimeLimits, Timestamp, Transition, WorkerId, decide,
};

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

pub(crate) fn rules() -> Rules {
    Rules::default()
}

/// The default retry policy without jitter.
pub(crate) fn steady_retry() -> RetryPolicy {
    RetryPolicy { jitter: false, ..RetryPolicy::default() }
}

pub(crate) fn spec() -> Spec {
    Spec {
        kind: JobType::parse("email.send").unwrap(),
        queue: QueueName::default_queue(),
        priority: Priority::default(),
        args: Json::from_trusted("[1]"),
        meta: Json::empty_object(),
        tags: Vec::new(),
        schema: None,
        scheduled_at: None,
        expires_at: None,
        timeout: None,
        visibility_timeout: None,
        limits: TimeLimits::default(),
        retry: steady_retry(),
        unique: None,
        delivery: Delivery::AtLeastOnce,
        ordering_key: None,
        kept_for: KeptFor::default(),
        rate_limit: None,
        workflow: None,
        extra: Json::empty_object(),
    }
}

pub(crate) fn id(number: u8) -> JobId {
    JobId::new(at(0), [number; 10])
}

/// An available job that was just created.
pub(crate) fn job() -> Job {
    Job {
        id: id(1),
        spec: Arc::new(spec()),
        key: None,
        created_at: at(0),
        enqueued_at: Some(at(0)),
        activated_at: None,
        started_at: None,
        attempt: 0,
        fence: 0,
        phase: Phase::Available { lapsed: None },
        history: History::default(),
        retry_delay: None,
        ledger: Ledger::default(),
        reentered_beside: None,
        released: None,
        first_start: None,
        progress: None,
        checkpoint: None,
        begun_at: None,
    }
}

/// A job in the given state; a discarded one is a dead letter.
pub(crate) fn job_in(state: State) -> Job {
    let lease = Lease {
        token: LeaseToken::new([1; 16]),
        worker: WorkerId::parse("w"),
        deadline: at(1800),
        length: Duration::from_mins(30),
    };
    let phase = match state {
        State::Scheduled => Phase::Scheduled { at: at(100) },
        State::Available => Phase::Available { lapsed: None },
        State::Pending => Phase::Pending { after: None },
        State::Active => Phase::Active { lease, times_out_at: None },
        State::Retryable => Phase::Retryable { at: at(100) },
        State::Completed => Phase::Completed { at: at(100), result: None },
        State::Cancelled => Phase::Cancelled { at: at(100), from: State::Available },
        State::Discarded => Phase::Discarded { at: at(100), cause: Cause::Failed, dead_letter: true },
    };
    let attempt =
        u32::from(matches!(state, State::Active | State::Retryable | State::Completed | State::Discarded));
    Job { phase, attempt, fence: attempt.into(), ..job() }
}

/// The job after worker `w` fetched it.
#[track_caller]
pub(crate) fn claimed(job: &Job, token: LeaseToken, now: Timestamp) -> Job {
    let event = Event::Claim { worker: WorkerId::parse("w"), token, visibility_timeout: None };
    match decide(job, event, now, &rules()) {
        Ok(Transition::To(next)) => next,
        other => panic!("not claimed: {other:?}"),
    }
}
