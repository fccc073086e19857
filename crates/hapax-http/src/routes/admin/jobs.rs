//! `/ojs/v1/admin/jobs`: finding jobs, and doing something about one.

use std::cmp::Ordering;

use hapax_core::{Job, JobFilter, JobId};
use hapax_store::{JobQuery, ListOrder};

use crate::call::Call;
use crate::from_wire::{self, Sort, Wanted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{operated_job, report};

/// Most jobs that are put in order for one page. They are read without their texts.
const SORTED_MAX: usize = 10_000;

/// Jobs by what they are.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    page(&call, from_wire::operators_jobs(&call.uri, call.broker().now())?).await
}

/// A page of those that are wanted.
pub(in crate::routes) async fn page(call: &Call, wanted: Wanted<JobId>) -> Result<Reply, Problem> {
    let Wanted { filter, sort, order, after, numbered } = wanted;
    let total = total(call, &filter).await?;
    if sort == Sort::Created {
        let is_from_start = after.is_none();
        let page = call.broker().jobs(JobQuery { filter, order, after, limit: numbered.end() }).await?;
        let shown = page.jobs.get(numbered.skipped()..).unwrap_or_default();
        let is_whole = is_from_start && page.next.is_none();
        let total = total.or_else(|| numbered.total_of_last(shown.len()).filter(|_| is_whole));
        return Ok(Reply::ok(operated_job::list(shown, numbered, total, page.next)));
    }
    let mut page = call.broker().jobs(JobQuery { filter, order, after, limit: SORTED_MAX }).await?;
    if page.next.is_some() {
        return Err(from_wire::too_many_to_sort().into());
    }
    page.jobs.sort_by(|one, other| compare(one, other, sort, order));
    let (found, end) = (page.jobs.len(), numbered.end());
    let shown = page.jobs.get(numbered.skipped()..found.min(end)).unwrap_or_default();
    let next = Some(end).filter(|end| *end < found);
    Ok(Reply::ok(operated_job::list(shown, numbered, Some(found as u64), next)))
}

/// Which of two jobs comes first. Those that have no time to wait for come last, whichever way the list runs.
fn compare(one: &Job, other: &Job, sort: Sort, order: ListOrder) -> Ordering {
    let when = |job: &Job| job.spec.scheduled_at.as_ref().map(|given| given.at);
    let (first, by_value) = match sort {
        Sort::Created => (Ordering::Equal, Ordering::Equal),
        Sort::Scheduled => (when(one).is_none().cmp(&when(other).is_none()), when(one).cmp(&when(other))),
        Sort::Priority => (Ordering::Equal, one.spec.priority.cmp(&other.spec.priority)),
    };
    let by_value = by_value.then(one.id.cmp(&other.id));
    first.then(match order {
        ListOrder::OldestFirst => by_value,
        ListOrder::NewestFirst => by_value.reverse(),
    })
}

/// One of them: flat, and as elsewhere.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let job = call.broker().job(call.job_id()?).await?;
    Ok(Reply::ok(operated_job::one(&job)))
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
