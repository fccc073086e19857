//! What a worker hears when it fetched, finished, gave up or beat.

use hapax_broker::{Order, Pulse};
use hapax_core::{Job, JobId, Timestamp};
use hapax_wire::job;
use hapax_wire::writer;

/// The answer to a fetch.
pub(crate) fn fetched(jobs: &[Job], is_single: bool) -> Vec<u8> {
    let length: usize = jobs.iter().map(|job| job::length_estimate(job) + 128).sum();
    let mut out = Vec::with_capacity(length + 32);
    writer::object(&mut out, |o| {
        o.array("jobs", jobs, |job, out| job::write_fetched(out, job));
        // Only for who asked for one job: for all others it would double the bytes of the first.
        if let (true, Some(first)) = (is_single, jobs.first()) {
            job::write_fetched(o.member("job"), first);
        }
    });
    out
}

/// The answer to an acknowledgement of either kind.
pub(crate) fn standing(job: &Job) -> Vec<u8> {
    let mut out = Vec::with_capacity(job::length_estimate(job) + 256);
    writer::object(&mut out, |o| {
        o.flag("acknowledged", true);
        job::standing(o, job);
        o.object("job", |o| job::members(o, job));
    });
    out
}

/// A job alone: wrapped, as the HTTP binding shows it, and flat, as the Rust SDK reads it.
pub(crate) fn job(job: &Job) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * job::length_estimate(job));
    writer::object(&mut out, |o| o.twice("job", |o| job::members(o, job)));
    out
}

/// A job that is tried again.
pub(crate) fn revived(job: &Job) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * job::length_estimate(job));
    writer::object(&mut out, |o| {
        o.twice("job", |o| {
            job::members(o, job);
            o.moment_if("re_enqueued_at", job.enqueued_at);
        });
    });
    out
}

/// A job that is gone.
pub(crate) fn deleted(id: JobId) -> Vec<u8> {
    let mut out = Vec::with_capacity(80);
    writer::object(&mut out, |o| {
        o.flag("deleted", true);
        o.plain("job_id", id);
    });
    out
}

/// The answer to a heartbeat.
pub(crate) fn beat(pulse: &Pulse, foreign: &[Box<str>], order: Order, now: Timestamp) -> Vec<u8> {
    let Pulse { extended, lost, cancelled } = pulse;
    let mut out = Vec::with_capacity(160 + 40 * (extended.len() + lost.len() + cancelled.len()));
    writer::object(&mut out, |o| {
        o.text("state", order.name());
        o.text("directive", order.name());
        o.array("jobs_extended", extended, |job, out| writer::plain(out, job.id));
        let lost = lost.iter().map(ToString::to_string).chain(foreign.iter().map(ToString::to_string));
        o.array("lost_jobs", lost, |id, out| writer::text(out, &id));
        o.array("cancelled_jobs", cancelled, |id, out| writer::plain(out, id));
        o.moment("server_time", now);
        o.flag("acknowledged", true);
    });
    out
}
