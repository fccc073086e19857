//! Jobs as replies show them.

use hapax_core::{AGENT_MEMBER, Delivery, State};
use hapax_wire::error::RETRYABLE;
use hapax_wire::job::delivery_name;

use super::{Named, one_of};
use crate::openapi::shape::{
    Member, Shape, all, any, any_object, choice, constant, count, either, flag, integer, list, may, moment,
    named, needs, number, object, text, texts, twice,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("State", one_of(State::ALL, State::name).about("Where a job stands.")),
        ("Arguments", either([list(any()), any_object()]).about("Come back byte for byte.")),
        ("Job", job()),
        ("FetchedJob", fetched()),
        ("ShortJob", short()),
        ("JobSummary", summary()),
        ("Failure", failure()),
        ("ShownJob", twice("job", &named("Job")).about("The job, under `job` and flat beside it.")),
        ("OperatedJob", all([named("ShownJob"), object([may("metadata", timeline())])])),
        ("ReprioritizedJob", reprioritized()),
        ("DeletedJob", object([needs("deleted", flag()), needs("job_id", text())])),
        ("Standing", standing()),
    ]
}

fn job() -> Shape {
    object(identity().into_iter().chain(moments()).chain(facts()).chain(wishes()))
        .about("A job. Attributes of the client that the server does not know stand beside these.")
}

fn identity() -> [Member; 10] {
    [
        needs("specversion", constant("1.0")),
        needs("id", text().about("A UUIDv7.")),
        needs("type", text().about("The kind of work.")),
        needs("queue", text()),
        needs("args", named("Arguments")),
        needs("meta", any_object().about("Comes back byte for byte.")),
        needs("priority", integer().about("Higher is first.")),
        needs("state", named("State")),
        needs("attempt", count().about("How often it was started.")),
        needs("max_attempts", count()),
    ]
}

/// When it came where.
fn moments() -> [Member; 10] {
    [
        needs("created_at", moment()),
        may("enqueued_at", moment().about("When it became available.")),
        may("activated_at", moment().about("When it was let go, if it was pending.")),
        may("started_at", moment().about("When the newest attempt began.")),
        may("next_attempt_at", moment()),
        may("next_retry_at", moment().about("The same as `next_attempt_at`.")),
        may("completed_at", moment()),
        may("cancelled_at", moment()),
        may("discarded_at", moment()),
        may("re_enqueued_at", moment().about("When a dead letter was tried again.")),
    ]
}

fn timeline() -> Shape {
    object(moments().into_iter().chain([may("scheduled_at", text())]))
        .about("The moments of the job, unless its client gave it an attribute of this name.")
}

fn facts() -> [Member; 10] {
    [
        may("worker_id", text().about("Who works on it.")),
        may("result", any().about("What the worker left; comes back byte for byte.")),
        may("previous_state", named("State")),
        may("waits_for", text().about("The job before it in its line.")),
        may("retry_delay_ms", count()),
        may("progress", number().least(0).most(1)),
        may("error", named("Failure").about("Why the newest attempt failed.")),
        may("errors", list(named("Failure")).about("The newest failures, oldest first.")),
        may("unique", named("Uniqueness")),
        may(AGENT_MEMBER, any_object().about("What an agent was told, and what was decided about it.")),
    ]
}

/// What the client asked for.
pub(super) fn wishes() -> Vec<Member> {
    vec![
        may("scheduled_at", text()),
        may("expires_at", text()),
        may("timeout_ms", count()),
        may("timeout", count().about("Seconds.")),
        may("visibility_timeout_ms", count()),
        may("total_timeout", count().about("Seconds.")),
        may("enqueue_ttl", count().about("Seconds.")),
        may("heartbeat_timeout", count().about("Seconds.")),
        may("grace_period", count().about("Seconds.")),
        may("tags", texts()),
        may("schema", text()),
        may("delivery", delivery()),
        needs("retry", named("RetryPolicy")),
        may("job_key", text()),
        may("ordering_key", text()),
        may("rate_limit", named("RateLimitWish")),
        may("job_key_mode", named("JobKeyMode")),
    ]
}

pub(super) fn delivery() -> Shape {
    choice([Delivery::AtLeastOnce, Delivery::AtMostOnce].map(delivery_name))
}

fn fetched() -> Shape {
    let right = object([
        may("lease", text().about("Shows that the job is yours: send it with every report.")),
        may("lease_expires_at", moment()),
        needs("fence", count().about("Grows with every attempt.")),
        may("checkpoint", named("Checkpoint")),
        may("last_checkpoint", any().about("The state of the checkpoint alone.")),
    ]);
    all([named("Job"), right])
}

fn short() -> Shape {
    object([
        needs("id", text()),
        needs("type", text()),
        needs("queue", text()),
        needs("state", named("State")),
        needs("abridged", flag().about("There was no room for the rest: read the job alone.")),
    ])
}

fn summary() -> Shape {
    let error = object([needs("type", text()), needs("message", text())]);
    let members = [
        needs("id", text()),
        needs("type", text()),
        needs("queue", text()),
        needs("state", named("State")),
        needs("priority", integer()),
        needs("attempt", count()),
        needs("max_attempts", count()),
        may("scheduled_at", text()),
        may("worker_id", text()),
        may("lease_expires_at", moment()),
        may("dead_letter", flag()),
        may("tags", texts()),
        may("error", error),
    ];
    object(members.into_iter().chain(moments())).about("A job in short, without its arguments.")
}

fn failure() -> Shape {
    object([
        needs("type", text()),
        needs("message", text()),
        needs("code", text()),
        may(RETRYABLE, flag()),
        needs("attempt", count()),
        needs("occurred_at", moment()),
        needs("timestamp", moment().about("The same as `occurred_at`.")),
        may("details", any()),
        may("backtrace", texts()),
        may("timeout_kind", text().about("Which limit was passed.")),
        may("limit_seconds", number()),
        may("elapsed_seconds", number()),
    ])
}

fn reprioritized() -> Shape {
    all([twice("job", &named("Job")), object([needs("previous_priority", integer())])])
}

fn standing() -> Shape {
    let members = [
        needs("acknowledged", flag()),
        needs("id", text()),
        needs("job_id", text()),
        needs("state", named("State")),
        needs("attempt", count()),
        needs("max_attempts", count()),
        may("next_attempt_at", moment()),
        may("next_retry_at", moment()),
        may("completed_at", moment()),
        may("cancelled_at", moment()),
        may("discarded_at", moment()),
        may("retry_delay_ms", count()),
        needs("job", named("Job")),
    ];
    object(members).about("Where a job stands after a worker reported on it.")
}
