//! `/ojs/v1/admin/jobs`: finding jobs, and doing something about one.

use hapax_core::{JobFilter, JobId};
use hapax_store::JobQuery;
use hapax_wire::{job, summary, writer};

use crate::call::Call;
use crate::from_wire::{self, Wanted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{pagination, report};

/// Jobs by what they are.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    page(&call, from_wire::operators_jobs(&call.uri, call.broker().now())?).await
}

/// A page of those that are wanted.
pub(in crate::routes) async fn page(call: &Call, wanted: Wanted<JobId>) -> Result<Reply, Problem> {
    let Wanted { filter, order, after, numbered } = wanted;
    let total = total(call, &filter).await?;
    let (skipped, limit) = (numbered.skipped(), numbered.skipped() + numbered.per_page);
    let page = call.broker().jobs(JobQuery { filter, order, after, limit }).await?;
    let shown = page.jobs.iter().skip(skipped);
    let mut out = Vec::with_capacity(128 + summary::LENGTH_ESTIMATE * numbered.per_page.min(page.jobs.len()));
    writer::object(&mut out, |o| {
        o.array("items", shown, |job, out| summary::write(out, job));
        pagination::numbered(o, numbered, total, page.next.is_some(), page.next);
    });
    Ok(Reply::ok(out))
}

/// One of them: flat, and as elsewhere.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let job = call.broker().job(id).await?;
    let mut out = Vec::with_capacity(2 * job::length_estimate(&job));
    writer::object(&mut out, |o| {
        job::members(o, &job);
        o.object("job", |o| job::members(o, &job));
    });
    Ok(Reply::ok(out))
}

/// How many there are, if that is known without looking at them: counts are kept by queue and state.
async fn total(call: &Call, filter: &JobFilter) -> Result<Option<u64>, Problem> {
    let JobFilter { queue, states, .. } = filter.clone();
    if *filter != (JobFilter { queue: queue.clone(), states, ..JobFilter::default() }) {
        return Ok(None);
    }
    let counts = match queue {
        Some(name) => call.broker().queue(name).await?.map(|facts| facts.counts).unwrap_or_default(),
        None => call.broker().totals().await?.counts,
    };
    Ok(Some(states.iter().map(|state| counts.of(state)).sum()))
}

/// Tries a job again.
pub(crate) async fn retry(call: Call) -> Result<Reply, Problem> {
    let retried = call.broker().retry(call.job_id()?).await?;
    Ok(Reply::ok(report::revived(&retried)))
}

/// Removes what is left of a job.
pub(crate) async fn delete(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    call.broker().delete(id).await?;
    Ok(Reply::ok(report::deleted(id)))
}
