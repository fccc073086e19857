//! `GET /ojs/v1/jobs/{id}/history` and `GET /ojs/v1/jobs/{id}/lineage`: what is known of a job's past and of its relatives.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::history;

/// What happened to it.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let listing = from_wire::job_history(&call.uri)?;
    let job = call.broker().job(call.job_id()?).await?;
    Ok(Reply::ok(history::page(&job, listing)))
}

/// From whom it comes, and who comes from it.
pub(crate) async fn lineage(call: Call) -> Result<Reply, Problem> {
    let lineage = call.broker().lineage(call.job_id()?).await?;
    Ok(Reply::ok(history::lineage(&lineage)))
}
