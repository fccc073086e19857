//! Queues, their counts and their settings.

use hapax_broker::Openness;
use hapax_core::limit::Share;
use hapax_core::{Overflow, State};

use super::{Named, one_of};
use crate::from_wire::DeletionStrategy;
use crate::from_wire::bounds::ALLOWED_TYPES_MAX;
use crate::openapi::shape::{
    Member, Shape, all, choice, count, either, flag, integer, list, map, may, moment, named, needs, number,
    object, seconds_or_span, span, text, texts, twice,
};

pub(super) fn shapes() -> Vec<Named> {
    let queues = [needs("queues", list(named("Queue"))), needs("pagination", named("Pagination"))];
    let shown = twice("queue", &all([named("Queue"), named("StateCounts")]));
    let operated =
        [needs("items", list(named("OperatedQueue"))), needs("pagination", named("NumberedPagination"))];
    let configured = all([named("OperatedQueue"), object([needs("configuration", configuration())])]);
    vec![
        (
            "StateCounts",
            object(State::ALL.map(|state| needs(state.name(), count()))).about("How many jobs stand where."),
        ),
        ("Queue", object(identity().into_iter().chain([may("created_at", moment())]))),
        ("Queues", object(queues)),
        ("ShownQueue", shown),
        ("SwitchedQueue", switched()),
        ("QueueStats", stats()),
        ("PriorityStats", priorities()),
        ("Throughput", throughput()),
        ("OperatedQueue", operated_queue()),
        ("OperatedQueues", object(operated)),
        ("ConfiguredQueue", configured),
        ("SwitchedOperatedQueue", switched_operated()),
        ("QueueWish", object([needs("name", text()), may("config", named("QueueConfigChange"))]).only()),
        ("QueueConfig", config()),
        ("QueueConfigChange", change()),
        ("ShownQueueConfig", shown_config()),
        ("QueueDeletionWish", object(way_out()).only()),
        ("DeletedQueue", deleted()),
    ]
}

fn status() -> Shape {
    choice([Openness::Active, Openness::Paused, Openness::Draining].map(Openness::name))
}

fn identity() -> [Member; 3] {
    [needs("name", text()), needs("status", status()), needs("paused", flag())]
}

fn switched() -> Shape {
    object([
        needs("queue", named("Queue")),
        needs("status", status()),
        may("paused_at", moment()),
        may("resumed_at", moment()),
    ])
}

fn switched_operated() -> Shape {
    object([
        needs("name", text()),
        needs("paused", flag()),
        needs("state", status()),
        may("paused_at", moment()),
        may("resumed_at", moment()),
    ])
}

fn stats() -> Shape {
    let hour = object([
        needs("queue", text()),
        needs("depth", count()),
        needs("completed_last_hour", count()),
        needs("failed_last_hour", count()),
        needs("avg_duration_ms", number()),
        needs("avg_wait_ms", number()),
        needs("throughput_per_second", number()),
    ]);
    let queue = all([object([needs("name", text()), needs("paused", flag())]), named("StateCounts")]);
    let own = object([
        needs("queue", either([queue, text()]).about("The name alone for clients that send `OJS-Version`.")),
        needs("name", text()),
        needs("status", status()),
        needs("paused", flag()),
        needs("stats", all([hour, named("StateCounts")])),
        needs("computed_at", moment()),
    ]);
    all([own, named("StateCounts")])
}

fn priorities() -> Shape {
    let of_one = object([needs("priority", integer()), needs("count", count())]);
    object([
        needs("queue", text()),
        needs("counts_by_priority", map(&count())),
        needs("distribution", list(of_one).about("The same as a list.")),
        needs("total", count()),
        needs("counted", count()),
        needs("complete", flag().about("Whether all of them were counted.")),
    ])
}

fn throughput() -> Shape {
    let latency = object([may("p50", number()), may("p95", number()), may("p99", number())]);
    object([
        needs(
            "throughput",
            object([needs("processed_per_minute", number()), needs("failed_per_minute", number())]),
        ),
        needs("latency_ms", latency.about("How long jobs waited.")),
    ])
    .about("The last hour of this server.")
}

fn operated_queue() -> Shape {
    let own = object([
        needs("name", text()),
        needs("state", status()),
        needs("counts", named("StateCounts")),
        needs("paused", flag()),
        needs("created_at", moment()),
    ]);
    all([own, named("Throughput")])
}

/// In which states jobs are kept for a while.
const ENDED: [State; 3] = [State::Completed, State::Cancelled, State::Discarded];

fn kept() -> [Member; 3] {
    ENDED.map(|state| may(state.name(), span()))
}

fn strategy() -> Shape {
    one_of(Overflow::ALL, Overflow::name).about("What becomes of a job for which there is no room.")
}

fn sharing() -> Shape {
    one_of(Share::ALL, Share::name).about("How jobs with a `rate_limit` share it if they do not say.")
}

fn pressure() -> [Member; 3] {
    [may("max_depth", count()), may("strategy", strategy()), may("warning_threshold", number())]
}

/// How far the queue is filled up.
fn standing() -> [Member; 4] {
    [
        needs("enabled", flag().about("Whether only so many jobs may wait.")),
        may("threshold", count().about("How many, by its own settings or those for all.")),
        needs("current_depth", count().about("How many wait.")),
        needs("state", choice(["normal", "warning", "critical"]).about("`critical` if it is full.")),
    ]
}

fn config() -> Shape {
    configured(pressure())
}

fn configuration() -> Shape {
    configured(pressure().into_iter().chain(standing()))
}

fn configured(pressure: impl IntoIterator<Item = Member>) -> Shape {
    let rate = object([needs("limit", count()), needs("period", text())]);
    object([
        may("rate_limit", rate.about("How many of its jobs may start in a while.")),
        may("concurrency", count().about("How many of its jobs may run at a time; 0 for none.")),
        may("backpressure", object(pressure)),
        may("max_size", count()),
        needs("draining", flag().about("Whether it takes no more jobs.")),
        may("visibility_timeout_ms", count()),
        may("default_timeout_ms", count()),
        may("default_retry", named("RetryPolicy")),
        may("retention", object(kept()).about("How long jobs that ended are kept.")),
        may("allowed_job_types", texts()),
        may("share", sharing()),
        may("deletion", object(way_out()).about("That it is being deleted.")),
    ])
    .about("What was decided about a queue.")
}

/// What becomes of the jobs that wait.
fn way_out() -> [Member; 2] {
    [
        needs("strategy", one_of(DeletionStrategy::ALL, DeletionStrategy::name)),
        may("target_queue", text().about("Where jobs go with the strategy `move`.")),
    ]
}

fn deleted() -> Shape {
    let [strategy, target] = way_out();
    object([
        needs("queue", text()),
        strategy,
        target,
        needs("jobs_affected", count().about("How many waited when it began.")),
        needs("state", choice(["deleted", "draining"])),
    ])
}

fn shown_config() -> Shape {
    let own = object([
        needs("name", text()),
        needs("queue", text().about("The same as `name`.")),
        needs("state", choice([State::Active.name(), "draining"])),
        needs("config", named("QueueConfig")),
    ]);
    all([own, named("QueueConfig")])
}

fn change() -> Shape {
    let share = || number().least(0).most(1);
    let pressure = [
        may("max_depth", count().or_null()),
        may("strategy", strategy().or_null()),
        may(
            "warning_threshold",
            share().about("From which share on answers warn that it fills up.").or_null(),
        ),
    ];
    let kept =
        ENDED.map(|state| may(state.name(), text().about("A duration: `P7D`, or in short `7d`.").or_null()));
    let rate = object([needs("limit", integer().least(1)), needs("period", text())]).only();
    let members = [
        ("backpressure", object(pressure).only()),
        ("concurrency", count().about("How many of its jobs may run at a time; 0 for none.")),
        ("rate_limit", rate.about("How many of its jobs may start in a while.")),
        ("max_size", count().about("How many jobs may wait.")),
        ("max_depth", count().about("The same as `max_size`.")),
        ("overflow_policy", strategy()),
        ("warning_threshold", share()),
        ("draining", flag()),
        ("visibility_timeout", seconds_or_span()),
        ("visibility_timeout_ms", integer().least(1)),
        ("default_timeout", count().about("Seconds.")),
        ("default_timeout_ms", count()),
        ("default_retry", named("RetryWish")),
        ("retention", object(kept).only()),
        ("share", sharing()),
        (
            "allowed_job_types",
            texts().items_max(ALLOWED_TYPES_MAX).about("Types, with a star at the end or not."),
        ),
    ];
    object(members.map(|(name, shape)| may(name, shape.or_null())))
        .only()
        .about("What is not mentioned stays as it is; null makes it open again.")
}
