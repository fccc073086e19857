//! `POST /ojs/v1/admin/jobs/bulk/…`: something is done about all jobs that fit a filter.

use hapax_broker::{Deed, Selection};

use crate::call::Call;
use crate::from_wire::{self, Described};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::deed;

/// Calls them off.
pub(crate) async fn cancel(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Cancel).await
}

/// Tries them again.
pub(crate) async fn retry(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Retry).await
}

/// Removes what is left of them.
pub(crate) async fn delete(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Delete).await
}

async fn run(call: &Call, deed: Deed) -> Result<Reply, Problem> {
    let Described { filter, after, dry_run } = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::operators_deed(&body, deed, call.broker().now())?
    };
    let filter = call.own(filter);
    let Selection { ids, next } = call.broker().select_jobs(&filter, after).await?;
    let found = ids.len();
    let treated = if dry_run { None } else { Some(call.broker().treat(ids, Some(&filter), deed).await) };
    Ok(deed::for_operator(deed, found, treated.as_deref(), next))
}
