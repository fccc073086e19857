//! The one function that says what happens to a stored job.

mod overdue;

use crate::failure::Farewell;
use crate::{
    AgentDeed, Cause, Checkpoint, Claimant, Delivery, Event, Exhaustion, Handback, Job, JobId, Json, Lease,
    LeaseToken, Overrun, ParentResults, Phase, Priority, Progress, QueueName, Refusal, Report, Rules, Spec,
    SpecPatch, State, StateSet, Timestamp, Transition, WorkerError, WorkerId, due, next_due,
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
        Event::Progress { claimant, report } => {
            report_progress(job, &claimant, report, now).map(Transition::To)
        }
        Event::SaveCheckpoint { claimant, state, notes } => {
            save_checkpoint(job, &claimant, state, notes, now).map(Transition::To)
        }
        Event::DropCheckpoint => Ok(Transition::To(Job { checkpoint: None, ..job.clone() })),
        Event::Cancel => cancel(job, now).map(Transition::To),
        Event::Activate => activate(job, now).map(|next| Transition::To(next.with_agent_on())),
        Event::Agent(deed) => agent(job, &deed, now).map(Transition::To),
        Event::LetGo { parent_results } => let_step_go(job, parent_results, now).map(Transition::To),
        Event::Withdraw => withdraw(job),
        Event::Displace => displace(job, now).map(Transition::To),
        Event::LoseQueue => lose_queue(job, now).map(Transition::To),
        Event::MoveTo { queue } => move_to(job, queue).map(Transition::To),
        Event::Postpone { until } => postpone(job, until, now).map(Transition::To),
        Event::Drop => drop_limited(job, now).map(Transition::To),
        Event::Revive { patch } => revive(job, patch, now).map(Transition::To),
        Event::Forget if job.phase.is_dead_letter() => Ok(Transition::Removed),
        Event::Forget => Err(no_dead_letter(job)),
        Event::Retry => retry(job, now).map(Transition::To),
        Event::Delete if job.state().is_terminal() => Ok(Transition::Removed),
        Event::Delete => Err(wrong_state(job, StateSet::ENDED)),
        Event::Reprioritize { priority } => reprioritize(job, priority).map(Transition::To),
        Event::Abandon { claimant } => abandon(job, &claimant, now).map(Transition::To),
        Event::OnlyIf { filter, event } if filter.fits(job) => decide(job, *event, now, rules),
        Event::OnlyIf { .. } => Err(Refusal::NotMeant(job.id)),
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
    if due::too_late_at(job).is_some_and(|at| at <= now) {
        overdue::come_too_late(&mut next, now);
        return Ok(next);
    }
    next.attempt += 1;
    next.fence += 1;
    next.started_at = Some(now);
    // What was said about the attempt before does not hold for this one (Progress 5.3).
    next.progress = None;
    let limits = job.spec.limits;
    let asked = limits.heartbeat.or(visibility_timeout).or(job.spec.visibility_timeout);
    let length = asked.unwrap_or(rules.visibility_timeout);
    next.phase = match job.spec.delivery {
        Delivery::AtLeastOnce => Phase::Active {
            lease: Lease { token, worker, deadline: now + length, length },
            times_out_at: job
                .spec
                .timeout
                .map(|timeout| now + timeout.span + limits.grace.unwrap_or_default()),
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
    next.progress = next.progress.map(|progress| progress.completed(now));
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
        Handback::Failed => attempt_failed(&mut next, error, None, chance, now),
    }
    Ok(next)
}

/// Records the failure; then another attempt after a pause, or the end.
fn attempt_failed(
    job: &mut Job,
    error: WorkerError,
    overrun: Option<Overrun>,
    chance: Chance,
    now: Timestamp,
) {
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
    if let Some(overrun) = overrun {
        job.history.note_overrun(overrun);
    }
    if let Some(exhaustion) = end {
        return give_up(job, Cause::Failed, exhaustion, now);
    }
    // One more attempt that could not end in time is not worth the wait (Timeouts 9.1).
    let longest = job.spec.timeout.map_or(Duration::ZERO, |timeout| timeout.span);
    if due::total_end(job).is_some_and(|end| end < now + delay + longest) {
        return overdue::exceed_total(job, now);
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
        let asked = job.spec.limits.heartbeat.or(visibility_timeout);
        lease.deadline = now + asked.unwrap_or(held.length);
    }
    Ok(next)
}

/// Reports are made without looking back: one that comes when nobody holds the job is passed over (Progress 6.1), unless
/// its worker shows a lease, which is lost.
fn report_progress(job: &Job, claimant: &Claimant, report: Report, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Active && claimant.token.is_none() {
        return Ok(job.clone());
    }
    let mut next = heartbeat(job, claimant, None, now)?;
    if let Some(state) = &report.checkpoint {
        let checkpoint = Checkpoint::after(job.checkpoint.as_ref(), state.clone(), Json::empty_object(), now);
        next.checkpoint = Some(checkpoint);
    }
    next.progress = Some(Progress::after(job.progress.as_ref(), report, now));
    Ok(next)
}

/// Somebody may also prepare a checkpoint for a job that waits.
fn save_checkpoint(
    job: &Job,
    claimant: &Claimant,
    state: Json,
    notes: Json,
    now: Timestamp,
) -> Result<Job, Refusal> {
    if job.state().is_terminal() {
        return Err(wrong_state(job, StateSet::INCOMPLETE));
    }
    let mut next = match (job.state(), claimant.token) {
        (State::Active, _) | (_, Some(_)) => heartbeat(job, claimant, None, now)?,
        (_, None) => job.clone(),
    };
    next.checkpoint = Some(Checkpoint::after(job.checkpoint.as_ref(), state, notes, now));
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

/// Somebody lets a job go that waits for that. A step that its workflow has not let go waits for more than that.
fn activate(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    match job.spec.workflow.filter(|_| job.waits_for_workflow()) {
        Some(workflow) => Err(Refusal::StepWaits { id: job.id, workflow }),
        None => set_going(job, now),
    }
}

/// A schedule that lies ahead still holds for an activated job.
fn set_going(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Pending {
        return Err(wrong_state(job, StateSet::of(&[State::Pending])));
    }
    if let Some(after) = job.waits_for().filter(|_| job.spec.ordering_key.is_some()) {
        return Err(Refusal::NotItsTurn { id: job.id, after });
    }
    let mut next = job.clone();
    next.activated_at = Some(now);
    next.wait_for_start(now);
    Ok(next)
}

/// A person stops an agent, or looks at it; or one of its tools is tried again.
fn agent(job: &Job, deed: &AgentDeed, now: Timestamp) -> Result<Job, Refusal> {
    const STOPPABLE: StateSet =
        StateSet::of(&[State::Scheduled, State::Available, State::Active, State::Retryable]);
    let mut next = match deed {
        AgentDeed::Pause { .. } if !STOPPABLE.contains(job.state()) => {
            return Err(wrong_state(job, STOPPABLE));
        }
        AgentDeed::Pause { .. } => paused(job, now),
        AgentDeed::Resume { .. } if !job.is_paused_agent() => {
            return Err(Refusal::NotPaused { id: job.id, state: job.state() });
        }
        AgentDeed::Resume { approved: true, .. } => activate(job, now)?,
        AgentDeed::Resume { approved: false, .. } => cancel(job, now)?,
        AgentDeed::RetryTool { .. } if job.state().is_terminal() => {
            return Err(wrong_state(job, StateSet::INCOMPLETE));
        }
        AgentDeed::RetryTool { .. } => job.clone(),
    };
    let extra = job.with_agent(deed, now)?;
    next.spec = Arc::new(Spec { extra, ..(*next.spec).clone() });
    Ok(next)
}

/// It waits for a person. An attempt that was under way did not fail, so it uses up none.
fn paused(job: &Job, now: Timestamp) -> Job {
    let mut next = job.clone();
    if job.state() == State::Active {
        next.attempt = next.attempt.saturating_sub(1);
        next.started_at = None;
    }
    next.phase = Phase::Pending { after: None };
    // A step that was scheduled from the start has nothing yet that tells it from one that still waits for others.
    if next.waits_for_workflow() {
        next.activated_at = Some(now);
    }
    next
}

/// A step of a workflow may run. It shows what those before it left for it as an attribute like others.
fn let_step_go(job: &Job, parent_results: Option<ParentResults>, now: Timestamp) -> Result<Job, Refusal> {
    let mut next = set_going(job, now)?;
    // Nobody could have run it before.
    next.begin_anew(now);
    if let Some(ParentResults { list, omitted }) = parent_results {
        let mut spec = (*next.spec).clone();
        spec.extra = spec.extra.with_member("parent_results", &list);
        if omitted > 0 {
            let omitted = Json::from_trusted(&omitted.to_string());
            spec.extra = spec.extra.with_member("parent_results_omitted", &omitted);
        }
        next.spec = Arc::new(spec);
    }
    Ok(next)
}

/// A full queue gives up its oldest job for a newer one.
fn displace(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Available {
        return Err(wrong_state(job, StateSet::of(&[State::Available])));
    }
    let mut next = job.clone();
    next.history.push(job.attempt, Farewell::Overflow.error(""), now);
    give_up(&mut next, Cause::Failed, Exhaustion::Discard, now);
    Ok(next)
}

/// Its queue is deleted, and nobody wants it elsewhere.
fn lose_queue(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if !job.state().is_waiting() {
        return Err(wrong_state(job, StateSet::WAITING));
    }
    let mut next = job.clone();
    next.history.push(job.attempt, Farewell::QueueDeleted.error(&job.spec.queue), now);
    give_up(&mut next, Cause::Failed, Exhaustion::Discard, now);
    Ok(next)
}

/// It waits elsewhere, as long as it would have waited here: its turn is that of the moment at which it came.
fn move_to(job: &Job, queue: QueueName) -> Result<Job, Refusal> {
    if !job.state().is_waiting() {
        return Err(wrong_state(job, StateSet::WAITING));
    }
    let mut next = job.clone();
    if job.spec.queue != queue {
        let mut spec = (*job.spec).clone();
        spec.move_to(queue);
        next.spec = Arc::new(spec);
    }
    Ok(next)
}

/// There is no room for it, and it is not to wait in line for some.
fn postpone(job: &Job, until: Timestamp, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Available {
        return Err(wrong_state(job, StateSet::of(&[State::Available])));
    }
    let mut next = job.clone();
    if due::too_late_at(job).is_some_and(|at| at <= now) {
        overdue::come_too_late(&mut next, now);
    } else {
        next.phase = Phase::Scheduled { at: until };
        next.enqueued_at = None;
    }
    Ok(next)
}

/// There is no room for it, and later it would be worth nothing.
fn drop_limited(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    if job.state() != State::Available {
        return Err(wrong_state(job, StateSet::of(&[State::Available])));
    }
    let mut next = job.clone();
    next.history.push(job.attempt, Farewell::RateLimited.error(""), now);
    give_up(&mut next, Cause::Failed, Exhaustion::Discard, now);
    Ok(next)
}

/// A callback that is not needed was never to run: nothing is left of it.
fn withdraw(job: &Job) -> Result<Transition, Refusal> {
    if job.state() != State::Pending {
        return Err(wrong_state(job, StateSet::of(&[State::Pending])));
    }
    Ok(Transition::Removed)
}

fn revive(job: &Job, patch: SpecPatch, now: Timestamp) -> Result<Job, Refusal> {
    if job.phase.is_dead_letter() { bring_back(job, patch, now) } else { Err(no_dead_letter(job)) }
}

fn no_dead_letter(job: &Job) -> Refusal {
    Refusal::NoDeadLetter { id: job.id, state: job.state() }
}

/// What waits for its next attempt need not wait for it; what was given up starts again.
fn retry(job: &Job, now: Timestamp) -> Result<Job, Refusal> {
    match job.state() {
        State::Retryable => {
            let mut next = job.clone();
            next.become_available(now);
            Ok(next)
        }
        State::Discarded => bring_back(job, SpecPatch::default(), now),
        State::Scheduled
        | State::Available
        | State::Pending
        | State::Active
        | State::Completed
        | State::Cancelled => Err(wrong_state(job, StateSet::of(&[State::Retryable, State::Discarded]))),
    }
}

/// Attempts start again from nothing; the history and the fence stay.
fn bring_back(job: &Job, patch: SpecPatch, now: Timestamp) -> Result<Job, Refusal> {
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
    next.begin_anew(now);
    next.become_available(now);
    Ok(next)
}

/// An available job keeps its turn: it stands in the new line as if it had had this priority when it came.
fn reprioritize(job: &Job, priority: Priority) -> Result<Job, Refusal> {
    if !job.state().is_waiting() {
        return Err(wrong_state(job, StateSet::WAITING));
    }
    let mut next = job.clone();
    if job.spec.priority != priority {
        next.spec = Arc::new(Spec { priority, ..(*job.spec).clone() });
    }
    Ok(next)
}

/// As if the lease had run out: if the worker lives after all, it may still complete the job.
fn abandon(job: &Job, claimant: &Claimant, now: Timestamp) -> Result<Job, Refusal> {
    let lease = active_lease(job, claimant)?.clone();
    let mut next = job.clone();
    let error = WorkerError::of_server("worker_death", "an operator declared its worker gone".into());
    overdue::lapse(&mut next, lease, error, now);
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
            if due::too_late_at(job).is_some_and(|at| at <= now) {
                overdue::come_too_late(&mut next, now);
            } else {
                next.become_available(now);
            }
        }
        Phase::Active { lease, times_out_at } => {
            overdue::run_out(&mut next, lease, *times_out_at, chance, now);
        }
        Phase::Completed { .. } | Phase::Cancelled { .. } | Phase::Discarded { .. } => {
            return Ok(Transition::Removed);
        }
    }
    Ok(Transition::To(next))
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
