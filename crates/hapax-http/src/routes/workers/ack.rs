//! `POST /ojs/v1/workers/ack` and `POST /ojs/v1/jobs/{id}/ack`: a worker has done a job.

use crate::call::{Call, job_id};
use crate::from_wire::{self, Acknowledgement};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::tenants::Deed;
use crate::to_wire::report;

/// The body names the job.
pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let said = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::acknowledgement(Some(&body), None)?
    };
    acknowledge(&call, said).await
}

/// The path names the job, and there may be no body.
pub(crate) async fn of_path(call: Call) -> Result<Reply, Problem> {
    let said = if call.body.bytes.is_empty() {
        from_wire::acknowledgement(None, Some(&call.parameter))?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::acknowledgement(Some(&body), Some(&call.parameter))?
    };
    acknowledge(&call, said).await
}

async fn acknowledge(call: &Call, said: Acknowledgement) -> Result<Reply, Problem> {
    let Acknowledgement { job_id: id, claimant, result } = said;
    let id = job_id(&id)?;
    call.keep_to_own(id).await?;
    let job = call.broker().acknowledge(id, claimant, result).await?;
    call.shared.tenants.count(&job, Deed::Acknowledged);
    Ok(Reply::ok(report::standing(&job)))
}
