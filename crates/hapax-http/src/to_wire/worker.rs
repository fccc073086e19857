//! Workers, as operators see them.

use hapax_broker::{Deregistered, Order, Report, Standing, Worker};
use hapax_core::{Job, QueueName, Timestamp, WorkerId};
use hapax_wire::summary;
use hapax_wire::writer::{self, Object};

use super::pagination;
use crate::from_wire::Numbered;

/// The answer to a question for all workers.
pub(crate) fn list(
    workers: &[Worker],
    numbered: Numbered,
    after: Option<&WorkerId>,
    now: Timestamp,
) -> Vec<u8> {
    let standing = |wanted| workers.iter().filter(|worker| worker.standing(now) == wanted).count();
    let is_behind = |worker: &&Worker| after.is_none_or(|after| worker.id.as_str() > after.as_str());
    let mut shown: Vec<_> =
        workers.iter().filter(is_behind).skip(numbered.skipped()).take(numbered.per_page + 1).collect();
    let has_more = shown.len() > numbered.per_page;
    shown.truncate(numbered.per_page);
    let mut out = Vec::with_capacity(192 + 384 * numbered.per_page.min(workers.len()));
    writer::object(&mut out, |o| {
        o.array("items", &shown, |worker, out| writer::object(out, |o| members(o, worker, now)));
        o.object("summary", |o| {
            o.number("total", workers.len());
            o.number("running", standing(Standing::Running));
            o.number("quiet", standing(Standing::Quiet));
            o.number("stale", standing(Standing::Stale));
        });
        let last = shown.last().map(|worker| worker.id.as_str());
        pagination::numbered(o, numbered, Some(workers.len() as u64), has_more, last);
    });
    out
}

/// The answer to a question for one worker, with the jobs that it holds.
pub(crate) fn one(worker: &Worker, jobs: &[Job], has_more: bool, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(512 + summary::LENGTH_ESTIMATE * jobs.len());
    writer::object(&mut out, |o| {
        members(o, worker, now);
        o.array("jobs", jobs, |job, out| summary::write(out, job));
        o.flag("has_more_jobs", has_more);
    });
    out
}

/// The answer to an order.
pub(crate) fn ordered(worker: &Worker, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| members(o, worker, now));
    out
}

/// The answer to who removed one.
pub(crate) fn removed(worker: &Worker, gone: &Deregistered) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    writer::object(&mut out, |o| {
        o.flag("deleted", true);
        o.text("id", worker.id.as_str());
        o.number("jobs_released", gone.released);
        o.flag("has_more_jobs", gone.has_more);
    });
    out
}

/// The answer to who asks whether a worker is well.
pub(crate) fn health(worker: &Worker, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(192);
    writer::object(&mut out, |o| {
        o.text("worker_id", worker.id.as_str());
        o.text("state", state(worker, now));
        o.text("status", if worker.standing(now) == Standing::Running { "ok" } else { "degraded" });
        o.number_if("active_jobs", worker.report.active_jobs);
        o.moment("last_seen_at", worker.last_seen_at);
    });
    out
}

/// The answer to a registration.
pub(crate) fn registered(worker: &str, visibility_seconds: u64, now: Timestamp) -> Vec<u8> {
    /// How often a worker shall beat, and after how long a silence it counts as gone, in seconds.
    const BEAT_SECONDS: u64 = 5;
    let mut out = Vec::with_capacity(192);
    writer::object(&mut out, |o| {
        o.flag("ok", true);
        o.text("worker_id", worker);
        o.text("state", Order::Running.name());
        o.moment("server_time", now);
        o.number("heartbeat_interval", BEAT_SECONDS);
        o.number("heartbeat_timeout", hapax_broker::STALE_AFTER.as_secs());
        o.number("visibility_timeout_default", visibility_seconds);
    });
    out
}

fn state(worker: &Worker, now: Timestamp) -> &str {
    if worker.standing(now) == Standing::Stale { "stale" } else { worker.state() }
}

fn members(o: &mut Object<'_>, worker: &Worker, now: Timestamp) {
    let Worker { id, report, order, first_seen_at, last_seen_at, last_heartbeat_at, is_gone: _ } = worker;
    let Report { hostname, pid, queues, concurrency, version, labels, started_at, active_jobs, state: _ } =
        report;
    o.text("id", id.as_str());
    o.text("state", state(worker, now));
    o.text("directive", order.name());
    o.text_if("hostname", hostname.as_deref());
    o.number_if("pid", *pid);
    if let Some(queues) = queues {
        o.words("queues", queues.iter().map(QueueName::as_str));
    }
    o.number_if("concurrency", *concurrency);
    o.number_if("active_jobs", *active_jobs);
    o.text_if("version", version.as_deref());
    if let Some(labels) = labels {
        o.raw("metadata", labels.as_str());
    }
    o.moment("started_at", started_at.unwrap_or(*first_seen_at));
    o.moment("last_seen_at", *last_seen_at);
    // The admin document has it with every worker, and a fetch is a sign of life as well.
    o.moment("last_heartbeat_at", last_heartbeat_at.unwrap_or(*last_seen_at));
}
