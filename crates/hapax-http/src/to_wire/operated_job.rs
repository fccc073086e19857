//! Jobs as operators see them: in short in lists, and one of them flat with all that the official admin UI reads.

use std::fmt::Display;

use hapax_core::Job;
use hapax_core::json::{self, Limits};
use hapax_wire::writer::{self, Object};
use hapax_wire::{job, summary};

use super::pagination;
use crate::from_wire::Numbered;

/// What the official admin UI calls the moments of a job.
const TIMELINE: &str = "metadata";

/// A page of jobs in short.
pub(crate) fn list(
    jobs: &[Job],
    numbered: Numbered,
    total: Option<u64>,
    next: Option<impl Display>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + summary::LENGTH_ESTIMATE * jobs.len());
    writer::object(&mut out, |o| {
        o.array("items", jobs, |job, out| summary::write(out, job));
        pagination::numbered(o, numbered, total, next.is_some(), next);
    });
    out
}

/// A job, flat and as elsewhere.
pub(crate) fn one(job: &Job) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + 2 * job::length_estimate(job));
    writer::object(&mut out, |o| {
        job::members(o, job);
        // The official admin UI fails at a job without the list.
        if job.history.entries().is_empty() {
            o.raw("errors", "[]");
        }
        if !has_own_timeline(job) {
            o.object(TIMELINE, |o| timeline(o, job));
        }
        o.object("job", |o| job::members(o, job));
    });
    out
}

fn timeline(o: &mut Object<'_>, job: &Job) {
    o.moment("created_at", job.created_at);
    o.moment_if("enqueued_at", job.enqueued_at);
    o.moment_if("started_at", job.started_at);
    o.text_if("scheduled_at", job.spec.scheduled_at.as_ref().map(|given| &*given.text));
    job::moments(o, &job.phase);
}

/// Whether its client has given it an attribute of that name, which comes back as it was sent.
fn has_own_timeline(job: &Job) -> bool {
    json::read(job.spec.extra.as_str(), Limits::DEFAULT).is_ok_and(|extra| extra.get(TIMELINE).is_some())
}
