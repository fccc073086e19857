//! Tenants, as operators see them.

use std::collections::BTreeSet;
use std::time::Duration;

use hapax_core::{Job, Phase, TenantId, WorkerId};
use hapax_store::{Counts as JobCounts, JobPage, Page};
use hapax_wire::writer::{self, Object};

use super::{pagination, queue};
use crate::from_wire::Numbered;
use crate::tenants::{Counts, Deed, Seen};

/// A page of tenants.
pub(crate) fn list(page: &Page<(TenantId, Seen)>, numbered: Numbered) -> Vec<u8> {
    let Page { items: tenants, total, has_more } = page;
    let mut out = Vec::with_capacity(128 + 256 * tenants.len());
    writer::object(&mut out, |o| {
        o.array("items", tenants, |(tenant, seen), out| {
            writer::object(out, |o| {
                identity(o, tenant);
                o.moment("created_at", seen.since);
                o.object("counted", |o| deeds(o, seen.counts));
            });
        });
        let next = tenants.last().map(|(tenant, _)| tenant);
        pagination::numbered(o, numbered, Some(*total), *has_more, next);
    });
    out
}

/// One of them, with its newest jobs counted by where they stand.
pub(crate) fn one(tenant: &TenantId, seen: Option<Seen>, page: &JobPage) -> Vec<u8> {
    let JobPage { jobs, next } = page;
    let oldest = jobs.iter().map(|job| job.created_at).chain(seen.map(|seen| seen.since)).min();
    let queues: BTreeSet<_> = jobs.iter().map(|job| job.spec.queue.as_str()).collect();
    let workers: BTreeSet<_> = jobs.iter().filter_map(holder).collect();
    let mut counts = JobCounts::default();
    for job in jobs {
        counts.add(job.state());
    }
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        identity(o, tenant);
        o.moment_if("created_at", oldest);
        o.object("counted", |o| deeds(o, seen.map(|seen| seen.counts).unwrap_or_default()));
        o.object("stats", |o| {
            o.number("queues", queues.len());
            o.number("workers", workers.len());
            o.object("jobs", |o| queue::counts(o, &counts));
            o.flag("complete", next.is_none());
        });
    });
    out
}

/// What was done with its jobs.
pub(crate) fn stats(tenant: &TenantId, counts: Counts, uptime: Duration) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.text("tenant_id", tenant.as_str());
        o.number("total_jobs", counts[Deed::Enqueued as usize]);
        o.object("jobs", |o| deeds(o, counts));
        o.number("uptime_seconds", uptime.as_secs());
    });
    out
}

/// The official admin UI shows a name beside the id; a tenant has only the one.
fn identity(o: &mut Object<'_>, tenant: &TenantId) {
    o.text("id", tenant.as_str());
    o.text("name", tenant.as_str());
}

fn deeds(o: &mut Object<'_>, counts: Counts) {
    for (deed, count) in Deed::ALL.into_iter().zip(counts) {
        o.number(deed.name(), count);
    }
}

fn holder(job: &Job) -> Option<&WorkerId> {
    match &job.phase {
        Phase::Active { lease, .. } => lease.worker.as_ref(),
        _ => None,
    }
}
