//! Workers: what they say and what they hear.

use hapax_broker::{FETCH_COUNT_MAX, FETCH_WAIT_MAX, Order};
use hapax_core::WorkerId;
use hapax_wire::error::RETRYABLE;

use super::progress::claimant;
use super::{Named, one_of};
use crate::from_wire::bounds::{FETCH_QUEUES_MAX, HEARTBEAT_JOBS_MAX};
use crate::openapi::shape::{
    Member, Shape, all, any, choice, count, either, flag, integer, list, map, may, moment, named, needs,
    object, seconds_or_span, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    let workers = [
        needs("items", list(named("Worker"))),
        needs("summary", counts(["total", "running", "quiet", "stale"])),
        needs("pagination", named("NumberedPagination")),
    ];
    let jobs = object([needs("jobs", list(named("JobSummary"))), needs("has_more_jobs", flag())]);
    vec![
        ("Order", one_of(Order::ALL, Order::name).about("What a worker is to do.")),
        ("FetchWish", fetch()),
        (
            "Fetched",
            object([
                needs("jobs", list(named("FetchedJob"))),
                may("job", named("FetchedJob").about("The only job, for who did not say `count`.")),
            ]),
        ),
        ("Rejection", object(rejection(may))),
        ("RejectionOfJob", object(rejection(needs))),
        ("WorkerError", worker_error()),
        ("Heartbeat", heartbeat()),
        ("Pulse", pulse()),
        ("Registration", object([needs("worker_id", worker_id())].into_iter().chain(facts(count())))),
        ("Registered", registered()),
        ("Worker", worker()),
        ("Workers", object(workers)),
        ("WorkerWithJobs", all([named("Worker"), jobs])),
        ("WorkerHealth", health()),
        (
            "RemovedWorker",
            object([
                needs("deleted", flag()),
                needs("id", text()),
                needs("jobs_released", count()),
                needs("has_more_jobs", flag()),
            ]),
        ),
    ]
}

fn counts<const N: usize>(names: [&'static str; N]) -> Shape {
    object(names.map(|name| needs(name, count())))
}

fn worker_id() -> Shape {
    text().chars_max(WorkerId::LENGTH_MAX)
}

fn fetch() -> Shape {
    object([
        may(
            "queues",
            texts()
                .items_min(1)
                .items_max(FETCH_QUEUES_MAX)
                .about("In the order in which they are looked at."),
        ),
        may("pool", text().about("The name of a pool, in place of `queues`.")),
        may("count", integer().least(1).default(1).about(format!("At most {FETCH_COUNT_MAX} are given."))),
        may("worker_id", worker_id()),
        may("visibility_timeout", seconds_or_span().about("How long the lease lasts.")),
        may("visibility_timeout_ms", integer().least(1)),
        may(
            "wait_ms",
            count().most(FETCH_WAIT_MAX.as_millis()).about("How long to wait if there is no job."),
        ),
    ])
    .about("`queues` or `pool`.")
}

fn rejection(job_id: fn(&'static str, Shape) -> Member) -> Vec<Member> {
    let own = [
        job_id("job_id", text()),
        may("error", either([named("WorkerError"), text()])),
        may("requeue", flag().about("Give the job back: the attempt does not count.")),
    ];
    own.into_iter().chain(claimant()).collect()
}

fn worker_error() -> Shape {
    object([
        may("type", text()),
        may("code", text()),
        may("message", any()),
        may(RETRYABLE, flag()),
        may("details", any()),
        may("backtrace", either([text(), texts()])),
    ])
}

/// What a worker says about itself. The last word is for the jobs that it has.
fn facts(active_jobs: Shape) -> [Member; 10] {
    [
        may("hostname", text()),
        may("pid", count()),
        may("queues", texts()),
        may("concurrency", count()),
        may("version", text()),
        may("labels", any()),
        may("metadata", any().about("The same as `labels`.")),
        may("started_at", moment()),
        may("state", text()),
        may("active_jobs", active_jobs),
    ]
}

fn heartbeat() -> Shape {
    let job = || either([text(), object([needs("job_id", text()), may("lease", text())])]);
    let jobs = either([list(job()).items_max(HEARTBEAT_JOBS_MAX), count()]);
    let own = [
        needs("worker_id", worker_id()),
        may("active_job_ids", list(job()).about("The same as `active_jobs`, if that is a number.")),
        may("job_id", job().about("A single job.")),
        may("lease", text().about("The lease of the single job.")),
        may("leases", map(&text()).about("The leases of the jobs, by their ids.")),
        may("visibility_timeout", seconds_or_span().about("How long the leases last from here.")),
        may("visibility_timeout_ms", integer().least(1)),
    ];
    object(own.into_iter().chain(facts(jobs.about("The jobs that it works on.")))).others(&any())
}

fn pulse() -> Shape {
    object([
        needs("state", named("Order")),
        needs("directive", named("Order").about("The same as `state`.")),
        needs("jobs_extended", texts()),
        needs("lost_jobs", texts().about("Jobs that are not the worker's.")),
        needs("cancelled_jobs", texts().about("Jobs that were called off: stop working on them.")),
        needs("server_time", moment()),
        needs("acknowledged", flag()),
    ])
}

fn registered() -> Shape {
    object([
        needs("ok", flag()),
        needs("worker_id", text()),
        needs("state", named("Order")),
        needs("server_time", moment()),
        needs("heartbeat_interval", count().about("Seconds.")),
        needs("heartbeat_timeout", count().about("Seconds.")),
        needs("visibility_timeout_default", count().about("Seconds.")),
    ])
}

fn worker() -> Shape {
    object([
        needs("id", text()),
        needs("state", text().about("`stale` if nobody has heard of it for a while.")),
        needs("directive", named("Order")),
        may("hostname", text()),
        may("pid", count()),
        may("queues", texts()),
        may("concurrency", count()),
        may("active_jobs", count()),
        may("version", text()),
        may("metadata", any()),
        needs("started_at", moment()),
        needs("last_seen_at", moment()),
        needs("last_heartbeat_at", moment()),
    ])
}

fn health() -> Shape {
    object([
        needs("worker_id", text()),
        needs("state", text()),
        needs("status", choice(["ok", "degraded"])),
        may("active_jobs", count()),
        needs("last_seen_at", moment()),
    ])
}
