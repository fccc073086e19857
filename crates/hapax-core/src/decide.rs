//! The one function that says what happens to a stored job.

use crate::{
    Cause, Claimant, Delivery, Event, Exhaustion, Handback, Job, JobId, Json, Lease, LeaseToken, Phase,
    Refusal, Rules, SpecPatch, State, StateSet, Timestamp, Transition, WorkerError, WorkerId, due, next_due,
    unique::{JobKey, Releaser, Uniqueness, rekeyed, released, supersede},
};
use crate::{Chance, Directive};

use std::sync::Arc;
use std::time::Duration;

/// What becomes of a job to which something happens.
pub fn decide(job: &Job, event: Event, now: Timestamp, rules: &Rules) -> Result<Transition, Refusal> {
    match event {
        Event::Claim { worker, token, visibility_timeout } => {
            claim(job, worker, token, visibility_timeout, now, rules).map(Transition::To)
        }
        Event::Acknowledge { claimant, result } => {
            acknowledge(job, &claimant, result, now).map(Transition::To)
        }
        Event::Fail { claimant, error, handback, chance } => {
            fail(job, &claimant, error, handback, chance, now).map(Transition::To)
        }
        Event::Heartbeat { claimant, visibility_timeout } => {
            heartbeat(job, &claimant, visibility_timeout, now).map(Transition::To)
        }
        Event::Cancel => cancel(job, now).map(Transition::To),
        Event::Activate => activate(job, now).map(Transition::To),
        Event::Revive { patch } => revive(job, patch, now).map(Transition::To),
        Event::Forget if job.phase.is_dead_letter() => Ok(Transition::Removed),
        Event::Forget => Err(Refusal::NoDeadLetter(job.id)),
        Event::Release { reason } => release(job, reason, now).map(Transition::To),
        Event::RemoveByKey => remove_by_key(job, now),
        Event::TimePassed { chance } => time_passed(job, chance.of_job(job.id), now, rules),
    }
}

/// A fetch takes the job; one that comes too late for an expired job ends it instead.
fn claim(
    job: &Job,
    worker: Option<WorkerId>,
    token: LeaseToken,
    visibility_timeout: Option<Duration>,
    now: Timestamp,
    rules: &Rules,
) -> Result<Job, Refusal> {
    if job.state() != State::Available {
        return Err(wrong_state(job, StateSet::of(&[State::Available])));
    }
    let mut next = job.clone();
    if due::expires_at(job).is_some_and(|at| at <= now) {
        expire(&mut next, now);
        return Ok(next);
    }
    next.attempt += 1;
    next.fence += 1;
    next.started_at = Some(now);
    let length = visibility_timeout.or(job.spec.visibility_timeout).unwrap_or(rules.visibility_timeout);
    next.phase = match job.spec.delivery {
        Delivery::AtLeastOnce => Phase::Active {
            lease: Lease { token, worker, deadline: now + length, length },
            times_out_at: job.spec.timeout.map(|timeout| now + timeout.span),
        },
        Delivery::AtMostOnce => Phase::Completed { at: now, result: None },
    };
    Ok(next)
}

/// The holder of the lease completes the job, and so does the last holder of a lease that ran out, as long
/// as nobody else has fetched the job (Delivery Guarantees, DG-012).
fn acknowledge(job: &Job, claimant: &Claimant, result: Option<Json>, now: Timestamp) -> Result<Job, Refusal> {
    let lease = match &job.phase {
        Phase::Active { lease, .. }
        | Phase::Available { lapsed: Some(lease) }
        | Phase::Discarded { cause: Cause::LeaseExpired(lease), .. } => lease,
        Phase::Scheduled { .. }
        | Phase::Available { lapsed: None }
        | Phase::Pending { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. }
        | Phase::Discarded { cause: Cause::Failed | Cause::Expired, .. } => {
            return Err(not_held(job, claimant));
        }
    };
    if !holds(claimant, lease) {
        return Err(Refusal::LeaseLost { id: job.id, state: job.state() });
    }
    let mut next = job.clone();
    next.phase = Phase::Completed { at: now, result };
    next.history.clear_current();
    next.retry_delay = None;
    Ok(next)
}

fn fail(
    job: &Job,
    claimant: &Claimant,
    error: WorkerError,
    handback: Handback,
    chance: Chance,
    now: Timestamp,
) -> Result<Job, Refusal> {
    active_lease(job, claimant)?;
    let mut next = job.clone();
    match handback {
        Handback::Requeue => {
            // Nobody ran it, so it must not use up the attempts of those who will. The fence stays: it counts
            // deliveries.
            next.attempt = next.attempt.saturating_sub(1);
            next.started_at = None;
            next.become_available(now);
        }
        Handback::Failed => attempt_failed(&mut next, error, chance, now),
    }
    Ok(next)
}

/// Records the failure; then another attempt after a pause, or the end.
fn attempt_failed(job: &mut Job, error: WorkerError, chance: Chance, now: Timestamp) {
    let retry = &job.spec.retry;
    let end = match error.directive {
        Directive::Discard => Some(Exhaustion::Discard),
        Directive::DeadLetter => Some(Exhaustion::DeadLetter),
        Directive::Policy if retry.forbids(&error) || retry.is_exhausted(job.attempt) => {
            Some(retry.on_exhaustion)
        }
        Directive::Policy => None,
    };
    let delay = retry.delay(job.attempt, chance);
    job.history.push(job.attempt, error, now);
    if let Some(exhaustion) = end {
        return give_up(job, Cause::Failed, exhaustion, now);
    }
    job.retry_delay = Some(delay);
    job.phase = Phase::Retryable { at: now + delay };
}

fn give_up(job: &mut Job, cause: Cause, exhaustion: Exhaustion, now: Timestamp) {
    job.retry_delay = None;
    job.phase = Phase::Discarded { at: now, cause, dead_letter: exhaustion == Exhaustion::DeadLetter };
}

fn heartbeat(
    job: &Job,
    claimant: &Claimant,
    visibility_timeout: Option<Duration>,
    now: Timestamp,
) -> Result<Job, Refusal> {
    let held = active_lease(job, claimant)?;
    let mut next = job.clone();
    if let Phase::Active { lease, .. } = &mut next.phase {
        lease.deadline = now + visibility_timeout.unwrap_or(held.length);
    }
    Ok(next)
}

fn cancel(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if job.state().is_terminal() {
        return Err(wrong_state(job, StateSet::INCOMPLETE));
    }
    let mut next = job.clone();
    next.phase = Phase::Cancelled { at: now, from: job.state() };
    next.retry_delay = None;
    Ok(next)
}

/// A schedule that lies ahead still holds for an activated job.
fn activate(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Pending {
        return Err(wrong_state(job, StateSet::of(&[State::Pending])));
    }
    let mut next = job.clone();
    next.activated_at = Some(now);
    next.wait_for_start(now);
    Ok(next)
}

/// Attempts start again from nothing; the history and the fence stay.
fn revive(job: &Job, patch: SpecPatch, now: Timestamp) -> Result<Job, Refusal> {
    if !job.phase.is_dead_letter() {
        return Err(Refusal::NoDeadLetter(job.id));
    }
    let mut next = job.clone();
    // The key is computed from the job: with other values it is another.
    let changes_key = patch.queue.is_some() || patch.args.is_some() || patch.meta.is_some();
    let mut spec = job.spec.patched(patch);
    // Somebody wants it run now: a deadline for its first life must not end the second at once.
    spec.expires_at = spec.expires_at.filter(|given| given.at > now);
    if changes_key && job.key.is_some() {
        next.key = Some(rekeyed(&spec).map_err(|error| Refusal::KeyImpossible { id: job.id, error })?);
    }
    next.spec = Arc::new(spec);
    next.forget_attempts();
    next.become_available(now);
    Ok(next)
}

/// The job goes on as it is, without its key.
fn release(job: &Job, reason: Option<Box<str>>, now: Timestamp) -> Result<Job, Refusal> {
    match job.key {
        Some(_) => Ok(released(job, Releaser::Operator, reason, now)),
        None => Err(Refusal::KeyNotHeld),
    }
}

/// What waits or was given up goes; what runs may end, but is not retried. Completed and cancelled jobs do not keep a
/// job key.
fn remove_by_key(job: &Job, now: Timestamp) -> Result<Transition, Refusal> {
    let has_name = matches!(job.spec.unique, Some(Uniqueness::JobKey(_))) && job.key.is_some();
    if !has_name || !JobKey::WATCH.states.contains(job.state()) {
        return Err(Refusal::KeyNotHeld);
    }
    if job.state() == State::Active {
        return Ok(Transition::To(supersede(job, Releaser::Removal, now)));
    }
    Ok(Transition::Removed)
}

fn time_passed(job: &Job, chance: Chance, now: Timestamp, rules: &Rules) -> Result<Transition, Refusal> {
    if next_due(job, rules).is_none_or(|at| at > now) {
        return Err(Refusal::NotDue(job.id));
    }
    let mut next = job.clone();
    match &job.phase {
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Retryable { .. } => {
            if due::expires_at(job).is_some_and(|at| at <= now) {
                expire(&mut next, now);
            } else {
                next.become_available(now);
            }
        }
        Phase::Active { lease, times_out_at } => match times_out_at {
            Some(at) if *at <= lease.deadline => time_out(&mut next, chance, now),
            _ => lapse(&mut next, lease.clone(), now),
        },
        Phase::Completed { .. } | Phase::Cancelled { .. } | Phase::Discarded { .. } => {
            return Ok(Transition::Removed);
        }
    }
    Ok(Transition::To(next))
}

/// Too late to start it, and its history says so. If its last lease ran out, the holder may still complete it.
fn expire(job: &mut Job, now: Timestamp) {
    let deadline = job.spec.expires_at.as_ref().map_or("", |given| &given.text);
    let message = format!("nobody started it before it expired at {deadline}");
    job.history.push(job.attempt, WorkerError::of_server("expired", message), now);
    let cause = match &job.phase {
        Phase::Available { lapsed: Some(lease) } => Cause::LeaseExpired(lease.clone()),
        Phase::Available { lapsed: None }
        | Phase::Scheduled { .. }
        | Phase::Pending { .. }
        | Phase::Active { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. }
        | Phase::Discarded { .. } => Cause::Expired,
    };
    give_up(job, cause, Exhaustion::Discard, now);
}

/// The attempt ran longer than it may: a failure like any other.
fn time_out(job: &mut Job, chance: Chance, now: Timestamp) {
    let limit = job.spec.timeout.map_or(0, |timeout| timeout.span.as_millis());
    let message = format!("the attempt ran longer than its limit of {limit} ms");
    attempt_failed(job, WorkerError::of_server("timeout", message), chance, now);
}

/// Nobody was heard of within the lease: back to the queue at once, for there is no failure to wait out.
fn lapse(job: &mut Job, lease: Lease, now: Timestamp) {
    let message = format!("no acknowledgement or heartbeat before {}", lease.deadline);
    job.history.push(job.attempt, WorkerError::of_server("visibility_timeout", message), now);
    if job.spec.retry.is_exhausted(job.attempt) {
        give_up(job, Cause::LeaseExpired(lease), job.spec.retry.on_exhaustion, now);
    } else {
        job.become_available(now);
        job.started_at = None;
        job.phase = Phase::Available { lapsed: Some(lease) };
    }
}

/// The lease of a job that this claimant holds now.
fn active_lease<'j>(job: &'j Job, claimant: &Claimant) -> Result<&'j Lease, Refusal> {
    match &job.phase {
        Phase::Active { lease, .. } if holds(claimant, lease) => Ok(lease),
        Phase::Active { .. } => Err(Refusal::LeaseLost { id: job.id, state: State::Active }),
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. }
        | Phase::Discarded { .. } => Err(not_held(job, claimant)),
    }
}

/// Whether what the claimant shows fits the lease. It need not show anything: official SDKs do not.
fn holds(claimant: &Claimant, lease: &Lease) -> bool {
    let token_fits = claimant.token.is_none_or(|token| token == Ok(lease.token));
    let worker_fits = match (&claimant.worker, &lease.worker) {
        (Some(claimed), Some(holder)) => claimed == holder,
        _ => true,
    };
    token_fits && worker_fits
}

/// Whoever shows a lease learns that it is lost; whoever shows none learns where the job is.
fn not_held(job: &Job, claimant: &Claimant) -> Refusal {
    match claimant.token {
        Some(_) => Refusal::LeaseLost { id: job.id, state: job.state() },
        None => wrong_state(job, StateSet::of(&[State::Active])),
    }
}

fn wrong_state(job: &Job, expected: StateSet) -> Refusal {
    let id: JobId = job.id;
    Refusal::WrongState { id, state: job.state(), expected }
}

#[cfg(test)]
mod tests;
