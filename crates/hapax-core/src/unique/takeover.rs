//! A holder takes over what a duplicate says.

use std::sync::Arc;

use super::{Debounce, Field, FieldSet, Takeover, Uniqueness, payload};
use crate::json::{Limits, read};
use crate::{GivenTime, Incoming, Job, Json, Phase, Refusal, Rules, Spec, State, TimeLimits, Timestamp};

/// What its workflow writes into the job of a step.
const OF_STEP: [&str; 3] = ["workflow_id", "parent_results", "parent_results_omitted"];

/// Writes the new values into the holder and names them.
pub(crate) fn take_over(
    holder: &mut Job,
    incoming: &Incoming,
    takeover: Takeover,
    now: Timestamp,
    rules: &Rules,
) -> Result<Vec<&'static str>, Refusal> {
    expect_same_line(holder, &incoming.spec, takeover)?;
    let mut spec = incoming.spec.clone();
    // Whatever it does, it stays the step of a workflow that it is.
    spec.workflow = holder.spec.workflow;
    if spec.workflow.is_some() {
        spec.extra = with_held(&spec.extra, &holder.spec.extra, &OF_STEP);
        spec.meta = with_held(&spec.meta, &holder.spec.meta, &OF_STEP[..1]);
    }
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
    holder.spec = Arc::new(*spec);
    // It was left behind in other work.
    holder.checkpoint = None;
    holder.begin_anew(now);
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

/// The new object, with these members as the holder has them.
fn with_held(new: &Json, held: &Json, names: &[&str]) -> Json {
    let Ok(node) = read(held.as_str(), Limits::STORED) else { return new.clone() };
    let members = node.as_object().into_iter().flatten().filter(|member| names.contains(&&*member.name));
    members
        .fold(new.clone(), |new, member| new.with_member(&member.name, &Json::from_trusted(member.node.raw)))
}

/// Who stands in a line keeps its place: others wait for it, and it waits for others.
fn expect_same_line(holder: &Job, incoming: &Spec, takeover: Takeover) -> Result<(), Refusal> {
    let (held, asked) = (&holder.spec.ordering_key, &incoming.ordering_key);
    let is_same_queue = holder.spec.queue == incoming.queue;
    let stays = match takeover {
        Takeover::Fields(fields) => is_same_queue || held.is_none() || !fields.contains(Field::Queue),
        Takeover::AllButSchedule | Takeover::Debounce(_) | Takeover::Latest | Takeover::Renew { .. } => {
            held == asked && (is_same_queue || held.is_none())
        }
    };
    let stays = stays || holder.state().is_terminal();
    if stays { Ok(()) } else { Err(Refusal::OtherOrder { id: holder.id }) }
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
        holder.checkpoint = None;
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
        Field::Queue => spec.move_to(incoming.queue.clone()),
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
    // Whoever waits in a line still does.
    if job.spec.ordering_key.is_some() && job.waits_for().is_some() {
        return;
    }
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
        limits: TimeLimits { total, enqueue, heartbeat, grace },
        retry,
        unique,
        rate_limit,
        delivery,
        ordering_key,
        // These belong to the job and not to what is asked of it.
        kept_for: _,
        workflow: _,
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
        ("total_timeout", *total != new.limits.total),
        ("enqueue_ttl", *enqueue != new.limits.enqueue),
        ("heartbeat_timeout", *heartbeat != new.limits.heartbeat),
        ("grace_period", *grace != new.limits.grace),
        ("retry", *retry != new.retry),
        (uniqueness_name(new), *unique != new.unique),
        ("rate_limit", *rate_limit != new.rate_limit),
        ("delivery", *delivery != new.delivery),
        ("ordering_key", *ordering_key != new.ordering_key),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_workflow_wrote_stays_however_deep_it_is() {
        // A result may be as deep as a body may be, and stands inside of an array.
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        let held = format!(r#"{{"parent_results":{deep},"other":1}}"#);
        let new = with_held(&Json::from_trusted(r#"{"mine":2}"#), &Json::from_trusted(&held), &OF_STEP);
        assert_eq!(new.as_str(), format!(r#"{{"mine":2,"parent_results":{deep}}}"#));
    }
}
