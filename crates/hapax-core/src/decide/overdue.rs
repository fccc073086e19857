//! What ends by itself because its time is over.

use std::time::Duration;

use super::{attempt_failed, give_up};
use crate::failure::Farewell;
use crate::{Cause, Chance, Exhaustion, Job, Lease, Overrun, Phase, Timestamp, WorkerError, due};

/// What ends a running attempt: of several things, the one that came first.
pub(super) fn run_out(
    job: &mut Job,
    lease: &Lease,
    times_out_at: Option<Timestamp>,
    chance: Chance,
    now: Timestamp,
) {
    let first = times_out_at.map_or(lease.deadline, |at| at.min(lease.deadline));
    if due::total_end(job).is_some_and(|end| end <= first) {
        exceed_total(job, now);
    } else if times_out_at.is_some_and(|at| at <= lease.deadline) {
        time_out(job, chance, now);
    } else if let Some(limit) = job.spec.limits.heartbeat {
        stall(job, lease, limit, chance, now);
    } else {
        lapse(job, lease.clone(), silence(lease), now);
    }
}

/// What ends a job that waits: of several things, the one that came first.
pub(super) fn come_too_late(job: &mut Job, now: Timestamp) {
    let first = due::too_late_at(job);
    if due::expires_at(job) == first {
        expire(job, now);
    } else if due::enqueue_end(job) == first {
        outwait(job, now);
    } else {
        exceed_total(job, now);
    }
}

/// Too late to start it, and its history says so. If its last lease ran out, the holder may still complete it.
fn expire(job: &mut Job, now: Timestamp) {
    let deadline = job.spec.expires_at.as_ref().map_or("", |given| &given.text);
    job.history.push(job.attempt, Farewell::Expired.error(deadline), now);
    let cause = lapsed_lease(job).map_or(Cause::Expired, Cause::LeaseExpired);
    give_up(job, cause, Exhaustion::Discard, now);
}

/// Nobody started it within the time that it may wait.
fn outwait(job: &mut Job, now: Timestamp) {
    let limit = job.spec.limits.enqueue.unwrap_or_default();
    let error = Farewell::Outwaited.error(format_args!("{} seconds", limit.as_secs()));
    job.history.push(job.attempt, error, now);
    job.history.note_overrun(Overrun { limit, elapsed: now.since(job.limits_count_from()) });
    give_up(job, Cause::Expired, Exhaustion::Discard, now);
}

/// It is over, whatever attempts were left.
pub(super) fn exceed_total(job: &mut Job, now: Timestamp) {
    let limit = job.spec.limits.total.unwrap_or_default();
    let error = Farewell::Total.error(format_args!("{} seconds over all attempts", limit.as_secs()));
    job.history.push(job.attempt, error, now);
    job.history.note_overrun(Overrun { limit, elapsed: now.since(job.limits_count_from()) });
    let cause = lapsed_lease(job).map_or(Cause::Failed, Cause::LeaseExpired);
    give_up(job, cause, job.spec.retry.on_exhaustion, now);
}

/// The attempt ran longer than it may: a failure like any other.
fn time_out(job: &mut Job, chance: Chance, now: Timestamp) {
    let limit = job.spec.timeout.map_or(Duration::ZERO, |timeout| timeout.span);
    let message = format!("the attempt ran longer than its limit of {} ms", limit.as_millis());
    let elapsed = job.started_at.map_or(limit, |since| now.since(since));
    let overrun = Some(Overrun { limit, elapsed });
    attempt_failed(job, WorkerError::of_server("timeout", message), overrun, chance, now);
}

/// Its worker fell silent: a failure like any other, unlike a lease that merely ran out.
fn stall(job: &mut Job, lease: &Lease, limit: Duration, chance: Chance, now: Timestamp) {
    let heard_at = lease.deadline - limit;
    let message = format!("no sign of life of its worker since {heard_at}");
    let overrun = Some(Overrun { limit, elapsed: now.since(heard_at) });
    attempt_failed(job, WorkerError::of_server("stalled", message), overrun, chance, now);
}

/// Nobody was heard of within the lease.
fn silence(lease: &Lease) -> WorkerError {
    let message = format!("no acknowledgement or heartbeat before {}", lease.deadline);
    WorkerError::of_server("visibility_timeout", message)
}

/// The lease has ended: back to the queue at once, for there is no failure to wait out.
pub(super) fn lapse(job: &mut Job, lease: Lease, error: WorkerError, now: Timestamp) {
    job.history.push(job.attempt, error, now);
    if job.spec.retry.is_exhausted(job.attempt) {
        give_up(job, Cause::LeaseExpired(lease), job.spec.retry.on_exhaustion, now);
    } else {
        job.become_available(now);
        job.started_at = None;
        job.phase = Phase::Available { lapsed: Some(lease) };
    }
}

fn lapsed_lease(job: &Job) -> Option<Lease> {
    match &job.phase {
        Phase::Available { lapsed } => lapsed.clone(),
        Phase::Scheduled { .. }
        | Phase::Pending { .. }
        | Phase::Active { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. }
        | Phase::Discarded { .. } => None,
    }
}
