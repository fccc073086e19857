//! `/ojs/v1/admin/dead-letter`: dead letters, found and treated by what they are.

use axum::http::StatusCode;
use hapax_broker::{Deed, Letters, Selection};

use crate::call::{Call, dead_letter_id};
use crate::from_wire::{self, Described, Wanted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{deed, letters};

/// Those that fit, newest first.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let Wanted { filter, sort: _, order: _, after, numbered } =
        from_wire::operators_letters(&call.uri, call.broker().now())?;
    let is_from_start = after.is_none();
    let found = call.broker().letters(&filter, after, numbered.skipped(), numbered.per_page).await?;
    let Letters { mut jobs, mut next, total } = found;
    let fitting = letters::fitting(&jobs);
    if fitting < jobs.len() {
        jobs.truncate(fitting);
        next = jobs.last().and_then(|job| job.phase.finished_at().map(|at| (at, job.id)));
    }
    // A total is known of all, and of those of one queue.
    let queue = filter.queue.clone();
    let is_known = filter == hapax_core::JobFilter { queue, ..hapax_core::JobFilter::default() };
    let total = Some(total).filter(|_| is_known);
    let is_last = is_from_start && next.is_none();
    let total = total.or_else(|| is_last.then(|| numbered.total_of_last(jobs.len()))?);
    Ok(Reply::ok(letters::list(&jobs, numbered, total, next)))
}

/// What they are together.
pub(crate) async fn stats(call: Call) -> Result<Reply, Problem> {
    let stats = call.broker().letter_stats().await?;
    Ok(Reply::ok(letters::stats(&stats, &call.broker().rules().retention)))
}

/// Tries those that fit again.
pub(crate) async fn retry_all(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Revive).await
}

/// Throws those that fit away.
pub(crate) async fn purge(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Forget).await
}

/// Throws one away.
pub(crate) async fn delete(call: Call) -> Result<Reply, Problem> {
    call.broker().forget(dead_letter_id(&call.parameter)?).await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, Vec::new()))
}

async fn run(call: &Call, what: Deed) -> Result<Reply, Problem> {
    let now = call.broker().now();
    let Described { filter, after, dry_run } = if call.body.bytes.is_empty() {
        from_wire::letters_deed(None, now)?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::letters_deed(Some(&body), now)?
    };
    let filter = call.own(filter);
    let Selection { ids, next } = call.broker().select_letters(&filter, after).await?;
    let found = ids.len();
    let treated = if dry_run { None } else { Some(call.broker().treat(ids, Some(&filter), what).await) };
    Ok(deed::for_operator(what, found, treated.as_deref(), next.as_ref().map(letters::cursor)))
}
