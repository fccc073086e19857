//! Tenants: those of which this server has seen jobs, what it did with them, and their jobs that are stored.

use hapax_core::{JobFilter, TenantId};
use hapax_store::JobQuery;

use crate::call::Call;
use crate::from_wire::{self, Wanted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::admin;
use crate::to_wire::tenant;

/// Most jobs of a tenant that are counted by where they stand: nothing keeps count of them.
const COUNTED_MAX: usize = 1000;

/// `GET /ojs/v1/admin/tenants`: those of which this server has seen jobs since it started, by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (numbered, after) = from_wire::numbered(&call.uri, TenantId::parse)?;
    let page = call.shared.tenants.page(after.as_ref(), numbered.skipped(), numbered.per_page);
    Ok(Reply::ok(tenant::list(&page, numbered)))
}

/// `GET /ojs/v1/admin/tenants/{id}`: one of them, or one that has jobs.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let tenant = named(&call)?;
    let seen = call.shared.tenants.of(&tenant);
    let filter = JobFilter::default().kept_to(&tenant);
    let page = call.broker().jobs(JobQuery::of(filter, COUNTED_MAX)).await?;
    if seen.is_none() && page.jobs.is_empty() && page.next.is_none() {
        return Err(unknown(&call));
    }
    Ok(Reply::ok(tenant::one(&tenant, seen, &page)))
}

/// `GET /ojs/v1/admin/tenants/{id}/jobs`: its jobs, in the form of all lists for operators.
pub(crate) async fn jobs(call: Call) -> Result<Reply, Problem> {
    let tenant = named(&call)?;
    let wanted = from_wire::operators_jobs(&call.uri, call.broker().now())?;
    let filter = wanted.filter.kept_to(&tenant);
    admin::jobs::page(&call, Wanted { filter, ..wanted }).await
}

/// `GET /ojs/v1/admin/tenants/{id}/stats`: what this server did with its jobs since it started.
pub(crate) async fn stats(call: Call) -> Result<Reply, Problem> {
    let tenant = named(&call)?;
    let counts = call.shared.tenants.of(&tenant).map(|seen| seen.counts).unwrap_or_default();
    Ok(Reply::ok(tenant::stats(&tenant, counts, call.shared.started.elapsed())))
}

fn named(call: &Call) -> Result<TenantId, Problem> {
    TenantId::parse(&call.parameter).ok_or_else(|| unknown(call))
}

fn unknown(call: &Call) -> Problem {
    Problem::no_resource("tenant", &call.parameter)
}
