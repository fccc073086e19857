//! Which events follow from a change (Events 3).

use std::sync::Arc;
use std::time::Duration;

use hapax_core::{Cause, Job, Phase, State, Timestamp};
use hapax_store::QueueFacts;

use super::event::{CancelledBy, EVENT_RESULT_BYTES_MAX, EventError, JobFact, News, Unnumbered};

/// Longest text of an error in an event, in characters.
const MESSAGE_MAX: usize = 500;

/// A job came to be.
pub(crate) fn created(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    push(events, job, at, arrival(job, CancelledBy::Request));
}

/// A holder was called off for a duplicate, took over values of one, or gave up its key.
pub(crate) fn taken_over(before: State, job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if before != job.state() {
        push(events, job, at, arrival(job, CancelledBy::Replacement));
    }
}

/// A worker took a job, or came too late for one that had expired.
pub(crate) fn claimed(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let worker = match &job.phase {
        Phase::Active { lease, .. } => lease.worker.clone(),
        _ => None,
    };
    if job.state() != State::Discarded {
        let waited = job.enqueued_at.map_or(Duration::ZERO, |since| at.since(since));
        push(events, job, at, Some(JobFact::Started { worker, attempt: job.attempt, waited }));
    }
    push(events, job, at, arrival(job, CancelledBy::Request));
}

/// Something happened to a stored job.
pub(crate) fn stepped(before: State, job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if before == job.state() {
        push(events, job, at, heartbeat(job));
        return;
    }
    if before == State::Active {
        push(events, job, at, failure(job));
    }
    push(events, job, at, arrival(job, CancelledBy::Request));
}

/// A job was removed. One that still waited is called off by that; of one that had ended everything was said.
pub(crate) fn removed(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if !job.state().is_terminal() {
        let from = job.state();
        let gone = Job { phase: Phase::Cancelled { at, from }, ..job.clone() };
        push(events, &gone, at, arrival(&gone, CancelledBy::Request));
    }
}

/// A queue was paused or resumed.
pub(crate) fn queue_changed(facts: &QueueFacts, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let news = if facts.paused { News::QueuePaused } else { News::QueueResumed };
    events.push(Unnumbered { at, queue: facts.name.clone(), news });
}

fn push(events: &mut Vec<Unnumbered>, job: &Job, at: Timestamp, fact: Option<JobFact>) {
    if let Some(fact) = fact {
        let news = News::Job { id: job.id, job_type: job.spec.kind.clone(), state: job.state(), fact };
        events.push(Unnumbered { at, queue: job.spec.queue.clone(), news });
    }
}

/// What is said about a job that came to where it stands.
fn arrival(job: &Job, by: CancelledBy) -> Option<JobFact> {
    let attempt = job.attempt;
    Some(match &job.phase {
        Phase::Scheduled { at } => JobFact::Scheduled { scheduled_at: *at },
        Phase::Available { .. } => JobFact::Enqueued {
            priority: job.spec.priority,
            scheduled_at: job.spec.scheduled_at.as_ref().map(|given| given.at),
            key: job.key,
        },
        Phase::Retryable { at } => JobFact::Retrying {
            attempt,
            max_attempts: job.spec.retry.max_attempts,
            next_retry_at: *at,
            error: error(job),
        },
        Phase::Completed { at, result } => JobFact::Completed {
            attempt,
            duration: job.started_at.map_or(Duration::ZERO, |since| at.since(since)),
            result: result.clone().filter(|json| json.as_str().len() <= EVENT_RESULT_BYTES_MAX),
        },
        Phase::Cancelled { from, .. } => JobFact::Cancelled { from: *from, by },
        Phase::Discarded { cause: Cause::Expired, .. } => expired(job),
        Phase::Discarded { cause: Cause::Failed | Cause::LeaseExpired(_), .. } => {
            JobFact::Discarded { total_attempts: attempt, last_error: error(job) }
        }
        Phase::Pending { .. } | Phase::Active { .. } => return None,
    })
}

fn expired(job: &Job) -> JobFact {
    let ttl = job.spec.expires_at.as_ref().map_or(Duration::ZERO, |given| given.at.since(job.created_at));
    JobFact::Expired { created_at: job.created_at, ttl }
}

/// What is said about the attempt that ended, if it failed: a job that is available again either was handed back
/// untouched or lost its worker.
fn failure(job: &Job) -> Option<JobFact> {
    match &job.phase {
        Phase::Retryable { .. } | Phase::Discarded { .. } | Phase::Available { lapsed: Some(_) } => {}
        Phase::Available { lapsed: None }
        | Phase::Scheduled { .. }
        | Phase::Pending { .. }
        | Phase::Active { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. } => return None,
    }
    let failure = job.history.entries().last();
    let duration = job.started_at.zip(failure).map(|(since, failure)| failure.occurred_at.since(since));
    Some(JobFact::Failed { attempt: job.attempt, duration, error: error(job) })
}

fn heartbeat(job: &Job) -> Option<JobFact> {
    let Phase::Active { lease, .. } = &job.phase else { return None };
    let worker = lease.worker.clone();
    Some(JobFact::Heartbeat { worker, attempt: job.attempt, visible_until: lease.deadline })
}

/// The newest failure, cut to what an event carries.
fn error(job: &Job) -> Arc<EventError> {
    let given_up = job.state() == State::Discarded;
    let error = job.history.entries().last().map_or_else(
        || EventError { code: "unknown".into(), message: "".into(), retryable: !given_up },
        |failure| EventError {
            code: cut(&failure.code),
            message: cut(&failure.message),
            retryable: failure.retryable.unwrap_or(!given_up),
        },
    );
    Arc::new(error)
}

fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => text[..end].into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests;
