//! A holder takes over what a duplicate says.

use std::sync::Arc;

use super::{Debounce, Field, FieldSet, Takeover, Uniqueness, payload};
use crate::{GivenTime, Incoming, Job, Phase, Refusal, Rules, Spec, State, Timestamp};

/// Writes the new values into the holder and names them.
pub(crate) fn take_over(
    holder: &mut Job,
    incoming: &Incoming,
    takeover: Takeover,
    now: Timestamp,
    rules: &Rules,
) -> Result<Vec<&'static str>, Refusal> {
    let mut spec = incoming.spec.clone();
    match takeover {
        Takeover::Fields(fields) => return Ok(take_fields(holder, &spec, fields, now)),
        Takeover::AllButSchedule => spec.scheduled_at.clone_from(&holder.spec.scheduled_at),
        Takeover::Latest => {}
        Takeover::Debounce(debounce) => {
            join_payloads(holder, &mut spec, rules)?;
            let start = debounced_start(holder, debounce, now);
            spec.scheduled_at = Some(GivenTime::computed(start));
        }
        Takeover::Renew { keeps_start } => {
            join_payloads(holder, &mut spec, rules)?;
            if keeps_start {
                spec.scheduled_at.clone_from(&holder.spec.scheduled_at);
            }
        }
    }
    let changed = differences(&holder.spec, &spec);
    holder.spec = Arc::new(spec);
    match takeover {
        Takeover::Fields(_) | Takeover::AllButSchedule | Takeover::Renew { keeps_start: true } => {}
        // A successor has no place in time before it is let go.
        Takeover::Latest => holder.forget_attempts(),
        Takeover::Debounce(_) => {
            holder.forget_attempts();
            put_off(holder, now);
        }
        Takeover::Renew { keeps_start: false } => start_again(holder, incoming.pending, now),
    }
    Ok(changed)
}

/// The limit is there because nobody sees how large a job grows by many small requests.
fn join_payloads(holder: &Job, spec: &mut Spec, rules: &Rules) -> Result<(), Refusal> {
    let max = rules.joined_bytes_max;
    let joined = payload::joined(&holder.spec.args, &spec.args, max);
    spec.args = joined.map_err(|bytes| Refusal::PayloadFull { id: Some(holder.id), bytes, max })?;
    Ok(())
}

/// Each duplicate moves the start to `wait` from now, never past `max_wait` after the first start.
fn debounced_start(holder: &mut Job, debounce: Debounce, now: Timestamp) -> Timestamp {
    let own_start = || holder.spec.scheduled_at.as_ref().map_or(holder.created_at, |given| given.at);
    let first = holder.first_start.unwrap_or_else(own_start);
    holder.first_start = Some(first);
    let wished = now + debounce.wait;
    debounce.max_wait.map_or(wished, |max_wait| wished.min(first + max_wait))
}

fn take_fields(holder: &mut Job, incoming: &Spec, fields: FieldSet, now: Timestamp) -> Vec<&'static str> {
    let mut spec = (*holder.spec).clone();
    fields.iter().for_each(|field| copy_field(&mut spec, incoming, field));
    holder.spec = Arc::new(spec);
    if [Field::Args, Field::Meta, Field::Type].into_iter().any(|field| fields.contains(field)) {
        holder.forget_lapsed_lease();
    }
    if fields.contains(Field::ScheduledAt) {
        reschedule(holder, now);
    }
    fields.iter().map(Field::name).collect()
}

fn copy_field(spec: &mut Spec, incoming: &Spec, field: Field) {
    match field {
        Field::Args => spec.args = incoming.args.clone(),
        Field::Meta => spec.meta = incoming.meta.clone(),
        Field::Priority => spec.priority = incoming.priority,
        Field::Queue => spec.queue = incoming.queue.clone(),
        Field::ScheduledAt => spec.scheduled_at.clone_from(&incoming.scheduled_at),
        Field::Tags => spec.tags.clone_from(&incoming.tags),
        Field::MaxAttempts => spec.retry.max_attempts = incoming.retry.max_attempts,
        Field::Type => spec.kind = incoming.kind.clone(),
    }
}

/// A new start time moves a job between scheduled and available, and the next attempt of one that waits
/// for it. A running, pending or finished job only remembers it.
fn reschedule(job: &mut Job, now: Timestamp) {
    if let Phase::Retryable { at } = &mut job.phase {
        *at = job.spec.scheduled_at.as_ref().map_or(now, |given| given.at.max(now));
    } else {
        move_start(job, now);
    }
}

/// The same, but a failed job waits out its pause at least.
fn put_off(job: &mut Job, now: Timestamp) {
    let start = job.spec.scheduled_at.as_ref().map_or(now, |given| given.at);
    if let Phase::Retryable { at } = &mut job.phase {
        *at = start.max(*at);
    } else {
        move_start(job, now);
    }
}

fn move_start(job: &mut Job, now: Timestamp) {
    let at = job.spec.scheduled_at.as_ref().map(|given| given.at).filter(|at| *at > now);
    match (&job.phase, at) {
        (Phase::Scheduled { .. } | Phase::Available { .. }, Some(at)) => {
            job.phase = Phase::Scheduled { at };
            job.enqueued_at = None;
        }
        (Phase::Scheduled { .. }, None) => job.become_available(now),
        (
            Phase::Available { .. }
            | Phase::Pending { .. }
            | Phase::Active { .. }
            | Phase::Retryable { .. }
            | Phase::Completed { .. }
            | Phase::Cancelled { .. }
            | Phase::Discarded { .. },
            _,
        ) => {}
    }
}

/// As if the job were new, whatever became of it before. Its fence and its history stay.
fn start_again(job: &mut Job, pending: bool, now: Timestamp) {
    let in_line_since = job.enqueued_at.filter(|_| job.state() == State::Available);
    job.forget_attempts();
    job.activated_at = None;
    job.enqueued_at = None;
    if pending {
        job.phase = Phase::Pending { after: None };
        return;
    }
    job.wait_for_start(now);
    if job.state() == State::Available {
        job.enqueued_at = in_line_since.or(job.enqueued_at);
    }
}

/// The attributes in which two jobs differ, by their names on the wire.
fn differences(old: &Spec, new: &Spec) -> Vec<&'static str> {
    let Spec {
        kind,
        queue,
        priority,
        args,
        meta,
        tags,
        schema,
        scheduled_at,
        expires_at,
        timeout,
        visibility_timeout,
        retry,
        unique,
        delivery,
        extra,
    } = old;
    let pairs = [
        ("type", *kind != new.kind),
        ("queue", *queue != new.queue),
        ("priority", *priority != new.priority),
        ("args", *args != new.args),
        ("meta", *meta != new.meta),
        ("tags", *tags != new.tags),
        ("schema", *schema != new.schema),
        ("scheduled_at", *scheduled_at != new.scheduled_at),
        ("expires_at", *expires_at != new.expires_at),
        ("timeout_ms", *timeout != new.timeout),
        ("visibility_timeout_ms", *visibility_timeout != new.visibility_timeout),
        ("retry", *retry != new.retry),
        (uniqueness_name(new), *unique != new.unique),
        ("delivery", *delivery != new.delivery),
        ("extensions", *extra != new.extra),
    ];
    pairs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// Jobs with the same job key can differ in its mode only.
fn uniqueness_name(spec: &Spec) -> &'static str {
    match spec.unique {
        Some(Uniqueness::JobKey(_)) => "job_key_mode",
        Some(Uniqueness::Policy(_)) | None => "unique",
    }
}
