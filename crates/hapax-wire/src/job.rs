//! A job as clients see it: one flat object, absent members left out, never null.

use hapax_core::{
    Cause, Checkpoint, Delivery, Fraction, GivenTime, Job, OrderingKey, Phase, RetryPolicy, Spec, TimeLimits,
    Timestamp, WorkerId,
};

use crate::writer::{Object, object};
use crate::{failure, rate_limit, retry, unique};

/// The members that the server itself gives a job or a reply that shows one. An attribute of a client with
/// such a name would stand beside them a second time.
pub const SYSTEM_MEMBERS: &[&str] = &[
    "abridged",
    "activated_at",
    "attempt",
    "cancelled_at",
    "checkpoint",
    "completed_at",
    "created_at",
    "deduplicated",
    "discarded_at",
    "enqueued_at",
    "error",
    "errors",
    "fence",
    "job",
    "job_id",
    "last_checkpoint",
    "lease",
    "lease_expires_at",
    "next_attempt_at",
    "next_retry_at",
    "outcome",
    "parent_results",
    "parent_results_omitted",
    "previous_state",
    "progress",
    "re_enqueued_at",
    "replaced",
    "result",
    "retry_delay_ms",
    "started_at",
    "state",
    "updated",
    "waits_for",
    "worker_id",
];

/// Appends the job.
pub fn write(out: &mut Vec<u8>, job: &Job) {
    object(out, |o| members(o, job));
}

/// Writes what an answer about many jobs has room for: which job it is, and where. The rest can be read one by one.
pub fn abridged(o: &mut Object<'_>, job: &Job) {
    o.id("id", job.id);
    o.word("type", job.spec.kind.as_str());
    o.word("queue", job.spec.queue.as_str());
    o.word("state", job.state().name());
    o.flag("abridged", true);
}

/// Appends a job that a worker just fetched: the same, with the worker's right to it.
pub fn write_fetched(out: &mut Vec<u8>, job: &Job) {
    object(out, |o| {
        members(o, job);
        if let Phase::Active { lease, .. } = &job.phase {
            o.hex("lease", &lease.token.bytes());
            o.moment("lease_expires_at", lease.deadline);
        }
        o.number("fence", job.fence);
        if let Some(saved) = &job.checkpoint {
            o.object("checkpoint", |o| checkpoint(o, saved));
            // Progress 6.4 wants the state alone, and under another name.
            o.raw("last_checkpoint", saved.state.as_str());
        }
    });
}

/// Writes a checkpoint.
pub fn checkpoint(o: &mut Object<'_>, checkpoint: &Checkpoint) {
    o.raw("state", checkpoint.state.as_str());
    checkpoint_facts(o, checkpoint);
    o.members_of(checkpoint.notes.as_str());
}

/// Writes which checkpoint it is.
pub fn checkpoint_facts(o: &mut Object<'_>, checkpoint: &Checkpoint) {
    o.number("sequence", checkpoint.sequence);
    o.moment("created_at", checkpoint.saved_at);
}

/// Writes what a worker wants to know when it reported on a job: where the job is and when it goes on. The id
/// stands under two names, as the suite and the HTTP binding each read another.
pub fn standing(o: &mut Object<'_>, job: &Job) {
    o.id("id", job.id);
    o.id("job_id", job.id);
    o.word("state", job.state().name());
    o.whole("attempt", job.attempt);
    o.whole("max_attempts", job.spec.retry.max_attempts);
    moments(o, &job.phase);
    o.number_if("retry_delay_ms", job.retry_delay.map(|delay| delay.as_millis()));
}

/// About how many bytes the job takes, so that a buffer is allocated once.
pub fn length_estimate(job: &Job) -> usize {
    /// Members of the server with their names.
    const REST: usize = 640;
    /// A policy or a failure with its names.
    const EACH: usize = 384;
    /// A duplicate in the ledger with its names.
    const DUPLICATE: usize = 128;

    let Spec { args, meta, extra, unique, .. } = &*job.spec;
    let optional = job.history.entries().len() + usize::from(unique.is_some());
    let texts = args.as_str().len() + meta.as_str().len() + extra.as_str().len();
    REST + texts + optional * EACH + job.ledger.recent().len() * DUPLICATE
}

/// Writes the members of the job into an object.
pub fn members(o: &mut Object<'_>, job: &Job) {
    let Job {
        id,
        spec,
        key: _,
        created_at,
        enqueued_at,
        activated_at,
        started_at,
        attempt,
        fence: _,
        phase,
        history,
        retry_delay,
        ledger: _,
        reentered_beside: _,
        released: _,
        first_start: _,
        progress,
        checkpoint: _,
        begun_at: _,
    } = job;
    o.raw("specversion", "\"1.0\"");
    o.id("id", *id);
    o.word("type", spec.kind.as_str());
    o.word("queue", spec.queue.as_str());
    o.raw("args", spec.args.as_str());
    o.raw("meta", spec.meta.as_str());
    o.whole("priority", spec.priority.get());
    o.word("state", phase.state().name());
    o.whole("attempt", *attempt);
    o.whole("max_attempts", spec.retry.max_attempts);
    o.moment("created_at", *created_at);
    o.moment_if("enqueued_at", *enqueued_at);
    o.moment_if("activated_at", *activated_at);
    o.moment_if("started_at", *started_at);
    moments(o, phase);
    facts(o, phase);
    if spec.ordering_key.is_some() {
        o.plain_if("waits_for", job.waits_for());
    }
    o.number_if("retry_delay_ms", retry_delay.map(|delay| delay.as_millis()));
    let value = progress.as_ref().and_then(|progress| progress.value);
    o.number_if("progress", value.map(Fraction::get));
    wishes(o, spec);
    // A rate limit that was full has put it off, and its client asked for no start of its own.
    if let (Phase::Scheduled { at }, None) = (phase, &spec.scheduled_at) {
        o.moment("scheduled_at", *at);
    }
    unique::members(o, job);
    if let Some(current) = history.current() {
        o.object("error", |o| failure::members(o, current));
    }
    if !history.entries().is_empty() {
        o.array("errors", history.entries(), |entry, out| object(out, |o| failure::members(o, entry)));
    }
    o.members_of(spec.extra.as_str());
}

/// The moments that belong to the job's present place.
pub fn moments(o: &mut Object<'_>, phase: &Phase) {
    match phase {
        Phase::Scheduled { .. } | Phase::Available { .. } | Phase::Pending { .. } | Phase::Active { .. } => {}
        Phase::Retryable { at } => {
            // The suite reads the first, the events document writes the second.
            o.moment("next_attempt_at", *at);
            o.moment("next_retry_at", *at);
        }
        Phase::Completed { at, .. } => o.moment("completed_at", *at),
        Phase::Cancelled { at, .. } => o.moment("cancelled_at", *at),
        Phase::Discarded { at, cause, .. } => {
            o.moment_if("completed_at", completed_at(*at, cause));
            o.moment("discarded_at", *at);
        }
    }
}

/// What else belongs there.
fn facts(o: &mut Object<'_>, phase: &Phase) {
    match phase {
        Phase::Active { lease, .. } => {
            o.text_if("worker_id", lease.worker.as_ref().map(WorkerId::as_str));
        }
        Phase::Completed { result: Some(result), .. } => o.raw("result", result.as_str()),
        Phase::Cancelled { from, .. } => o.word("previous_state", from.name()),
        Phase::Completed { result: None, .. }
        | Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Retryable { .. }
        | Phase::Discarded { .. } => {}
    }
}

/// A job that failed for good counts as completed, one that nobody started in time does not (L2-TTL-001).
fn completed_at(at: Timestamp, cause: &Cause) -> Option<Timestamp> {
    match cause {
        Cause::Failed | Cause::LeaseExpired(_) => Some(at),
        Cause::Expired => None,
    }
}

/// What the client asked for beyond the usual.
pub fn wishes(o: &mut Object<'_>, spec: &Spec) {
    o.text_if("scheduled_at", spec.scheduled_at.as_ref().map(given));
    o.text_if("expires_at", spec.expires_at.as_ref().map(given));
    if let Some(timeout) = spec.timeout {
        o.number("timeout_ms", timeout.span.as_millis());
        if timeout.in_seconds {
            o.number("timeout", timeout.span.as_secs());
        }
    }
    o.number_if("visibility_timeout_ms", spec.visibility_timeout.map(|span| span.as_millis()));
    if let Some(limit) = spec.rate_limit.as_deref() {
        o.object("rate_limit", |o| rate_limit::members(o, limit));
    }
    if spec.limits != TimeLimits::default() {
        time_limits(o, spec.limits);
    }
    if !spec.tags.is_empty() {
        o.texts("tags", spec.tags.iter().map(|tag| &**tag));
    }
    o.text_if("schema", spec.schema.as_deref());
    o.text_if("ordering_key", spec.ordering_key.as_ref().map(OrderingKey::as_str));
    if spec.delivery == Delivery::AtMostOnce {
        o.text("delivery", delivery_name(spec.delivery));
    }
    if spec.retry == RetryPolicy::default() {
        o.raw("retry", DEFAULT_RETRY);
    } else {
        retry::policy(o, &spec.retry);
    }
}

fn time_limits(o: &mut Object<'_>, limits: TimeLimits) {
    let TimeLimits { total, enqueue, heartbeat, grace } = limits;
    let limits = [
        ("total_timeout", total),
        ("enqueue_ttl", enqueue),
        ("heartbeat_timeout", heartbeat),
        ("grace_period", grace),
    ];
    for (name, limit) in limits {
        o.number_if(name, limit.map(|span| span.as_secs()));
    }
}

fn given(time: &GivenTime) -> &str {
    &time.text
}

/// The default policy, written once: most jobs have it.
const DEFAULT_RETRY: &str = r#"{"max_attempts":3,"initial_interval":"PT1S","backoff_coefficient":2.0,"max_interval":"PT5M","jitter":true,"non_retryable_errors":[],"on_exhaustion":"discard","backoff_strategy":"exponential"}"#;

/// The name on the wire.
pub const fn delivery_name(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::AtLeastOnce => "at_least_once",
        Delivery::AtMostOnce => "at_most_once",
    }
}

#[cfg(test)]
mod tests;
