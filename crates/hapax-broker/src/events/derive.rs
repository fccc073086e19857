//! Which events follow from a change (Events 3).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::{Cause, Job, Phase, QueueName, Said, State, Timestamp, WorkerId};
use hapax_store::{Change, QueueFacts};

use super::event::{CancelledBy, EVENT_RESULT_BYTES_MAX, EventError, JobFact, News, Step, Unnumbered};

/// Longest text of an error in an event, in characters.
const MESSAGE_MAX: usize = 500;

/// A job came to be.
pub(crate) fn created(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    arrive(events, job, at, None, CancelledBy::Request);
}

/// A holder was called off for a duplicate, took over values of one, or gave up its key.
pub(crate) fn taken_over(before: State, job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if before != job.state() {
        // Nothing else gives a job up on behalf of another.
        if job.state() == State::Discarded && newest_code(job) == Some("overflow") {
            push(events, job, at, None, JobFact::Displaced);
        }
        arrive(events, job, at, Some(before), CancelledBy::Replacement);
    }
}

/// A worker took a job, or came too late for one that had expired. One that is done in the moment it is taken was
/// active in between.
pub(crate) fn claimed(before: State, job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let mut from = before;
    if matches!(job.state(), State::Active | State::Completed) {
        let waited = job.enqueued_at.map_or(Duration::ZERO, |since| at.since(since));
        let step = Step { from: Some(from), to: State::Active };
        push(
            events,
            job,
            at,
            Some(step),
            JobFact::Started { worker: worker(job), attempt: job.attempt, waited },
        );
        from = State::Active;
    }
    out_of_time(job, at, events);
    dropped(job, at, events);
    if job.state() != State::Active {
        arrive(events, job, at, Some(from), CancelledBy::Request);
    }
}

/// A rate limit left no room for the job, which was not to wait for any.
fn dropped(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let is_dropped = job.state() == State::Discarded && newest_code(job) == Some("rate_limited");
    if let Some(limit) = job.spec.rate_limit.as_deref().filter(|_| is_dropped) {
        push(events, job, at, None, JobFact::RateDropped { key: limit.key.clone() });
    }
}

/// A worker closed the rate limit of its job.
fn limit_adjusted(job: &Job, until: Timestamp, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if let Some(limit) = job.spec.rate_limit.as_deref() {
        let reason = error(job).message.clone();
        push(events, job, at, None, JobFact::RateAdjusted { key: limit.key.clone(), until, reason });
    }
}

/// Something happened to a stored job.
pub(crate) fn stepped(before: State, job: &Job, said: Said, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if before != job.state() {
        if before == State::Active
            && let Some(fact) = failure(job)
        {
            push(events, job, at, None, fact);
        }
        out_of_time(job, at, events);
        arrive(events, job, at, Some(before), CancelledBy::Request);
    }
    match said {
        Said::Heartbeat => heartbeat(job, at, events),
        Said::Progress { with_checkpoint } if job.state() == State::Active => {
            progress(job, at, events);
            if with_checkpoint {
                checkpoint(job, at, events);
            }
        }
        // Reports of jobs that nobody holds were passed over.
        Said::Nothing | Said::Progress { .. } => {}
        Said::Checkpoint => checkpoint(job, at, events),
        Said::LimitClosed { until } => limit_adjusted(job, until, at, events),
        Said::Reprioritized { before } if before == job.spec.priority => {}
        Said::Reprioritized { before } => {
            push(events, job, at, None, JobFact::Reprioritized { before, after: job.spec.priority });
        }
        Said::Revived => push(events, job, at, None, JobFact::LetterRetried),
    }
}

/// Limits on time that were passed in this very moment: an attempt may pass its own and leave no time for another.
fn out_of_time(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if !matches!(job.phase, Phase::Retryable { .. } | Phase::Discarded { .. }) {
        return;
    }
    let newest = job.history.entries().iter().filter(|entry| entry.occurred_at == at);
    for (entry, overrun) in newest.filter_map(|entry| Some((entry, entry.overrun?))) {
        let error = entry.kind.clone();
        push(events, job, at, None, JobFact::OutOfTime { attempt: entry.attempt, error, overrun });
    }
}

/// A worker is still at it.
fn heartbeat(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let Phase::Active { lease, .. } = &job.phase else { return };
    let (worker, attempt) = (lease.worker.clone(), job.attempt);
    push(events, job, at, None, JobFact::Heartbeat { worker, attempt, visible_until: lease.deadline });
}

/// A worker told how far it has come.
fn progress(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if let Some(progress) = &job.progress {
        let (value, message) = (progress.value, progress.message.as_deref().map(cut));
        push(
            events,
            job,
            at,
            None,
            JobFact::Progress { worker: worker(job), attempt: job.attempt, value, message },
        );
    }
}

/// Somebody left behind from where the next attempt could go on.
fn checkpoint(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if let Some(checkpoint) = &job.checkpoint {
        let (attempt, sequence) = (job.attempt, checkpoint.sequence);
        push(events, job, at, None, JobFact::Checkpointed { worker: worker(job), attempt, sequence });
    }
}

/// Who is at the job, if somebody is and said who.
fn worker(job: &Job) -> Option<WorkerId> {
    match &job.phase {
        Phase::Active { lease, .. } => lease.worker.clone(),
        _ => None,
    }
}

/// A job was removed. One that still waited is called off by that; of one that had ended everything was said.
pub(crate) fn removed(job: &Job, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if !job.state().is_terminal() {
        let from = job.state();
        let gone = Job { phase: Phase::Cancelled { at, from }, ..job.clone() };
        arrive(events, &gone, at, Some(from), CancelledBy::Request);
    }
}

/// Somebody removed what was left of a job.
pub(crate) fn forgotten(change: &Change, at: Timestamp, events: &mut Vec<Unnumbered>) {
    if let Some(job) = lost_letter(change) {
        push(events, job, at, None, JobFact::LetterDeleted);
    }
}

/// Time passed, and with it the one or the other dead letter was removed: told once for each queue.
pub(crate) fn pruned(changes: &[Change], at: Timestamp, events: &mut Vec<Unnumbered>) {
    let mut counts: BTreeMap<&QueueName, u64> = BTreeMap::new();
    for job in changes.iter().filter_map(lost_letter) {
        *counts.entry(&job.spec.queue).or_default() += 1;
    }
    events.extend(counts.into_iter().map(|(queue, count)| {
        let news = News::LettersPruned { count };
        Unnumbered { at, queue: Some(queue.clone()), news, traced: None }
    }));
}

/// The dead letter that is no more, if that is what changed.
fn lost_letter(change: &Change) -> Option<&Job> {
    match change {
        Change::Removed { job, followers: _ } => Some(job).filter(|job| job.phase.is_dead_letter()),
        Change::To { .. } => None,
    }
}

/// A queue was paused or resumed.
pub(crate) fn queue_changed(facts: &QueueFacts, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let news = if facts.paused { News::QueuePaused } else { News::QueueResumed };
    events.push(Unnumbered { at, queue: Some(facts.name.clone()), news, traced: None });
}

/// A queue was deleted.
pub(crate) fn queue_deleted(name: &QueueName, at: Timestamp, events: &mut Vec<Unnumbered>) {
    events.push(Unnumbered { at, queue: Some(name.clone()), news: News::QueueDeleted, traced: None });
}

/// The job came to where it stands.
fn arrive(events: &mut Vec<Unnumbered>, job: &Job, at: Timestamp, from: Option<State>, by: CancelledBy) {
    let step = Step { from, to: job.state() };
    push(events, job, at, Some(step), arrival(job, by).unwrap_or(JobFact::Moved));
    if job.phase.is_dead_letter() {
        push(events, job, at, None, JobFact::LetterAdded { error: error(job) });
    }
}

fn push(events: &mut Vec<Unnumbered>, job: &Job, at: Timestamp, step: Option<Step>, fact: JobFact) {
    let news = News::Job { id: job.id, job_type: job.spec.kind.clone(), state: job.state(), step, fact };
    events.push(Unnumbered { at, queue: Some(job.spec.queue.clone()), news, traced: None });
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
    let newest = job.history.entries().last().and_then(|entry| entry.overrun);
    let given = || job.spec.expires_at.as_ref().map(|given| given.at.since(job.created_at));
    let ttl = newest.map(|overrun| overrun.limit).or_else(given).unwrap_or_default();
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

/// The newest failure, cut to what an event carries.
pub(super) fn error(job: &Job) -> Arc<EventError> {
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

fn newest_code(job: &Job) -> Option<&str> {
    job.history.entries().last().map(|entry| &*entry.code)
}

fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => text[..end].into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests;
