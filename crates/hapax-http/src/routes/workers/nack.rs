//! `POST /ojs/v1/workers/nack` and `POST /ojs/v1/jobs/{id}/nack`: a worker could not do a job.

use crate::call::{Call, job_id};
use crate::from_wire::{self, Rejection};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::tenants::Deed;
use crate::to_wire::report;

/// The body names the job.
pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let said = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::rejection(Some(&body), None)?
    };
    reject(&call, said).await
}

/// The path names the job, and there may be no body.
pub(crate) async fn of_path(call: Call) -> Result<Reply, Problem> {
    let said = if call.body.bytes.is_empty() {
        from_wire::rejection(None, Some(&call.parameter))?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::rejection(Some(&body), Some(&call.parameter))?
    };
    reject(&call, said).await
}

async fn reject(call: &Call, said: Rejection) -> Result<Reply, Problem> {
    let Rejection { job_id: id, claimant, error, handback } = said;
    let id = job_id(&id)?;
    call.keep_to_own(id).await?;
    let job = call.broker().fail(id, claimant, error, handback).await?;
    call.shared.tenants.count(&job, Deed::Failed);
    Ok(Reply::ok(report::standing(&job)))
}
