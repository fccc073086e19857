//! `PUT` and `GET /ojs/v1/jobs/{id}/progress`, `POST /ojs/v1/workers/progress`: how far a job has come.

use crate::call::{Call, job_id};
use crate::from_wire::{self, Reported};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::progress;

/// The path names the job.
pub(crate) async fn report(call: Call) -> Result<Reply, Problem> {
    let said = from_wire::progress(&from_wire::read(&call.body.bytes)?, Some(&call.parameter))?;
    take_down(&call, said).await
}

/// The body names the job, as the official SDKs have it.
pub(crate) async fn of_body(call: Call) -> Result<Reply, Problem> {
    let said = from_wire::progress(&from_wire::read(&call.body.bytes)?, None)?;
    take_down(&call, said).await
}

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let job = call.broker().job(call.job_id()?).await?;
    Ok(progress::of_job(&job))
}

async fn take_down(call: &Call, said: Reported) -> Result<Reply, Problem> {
    let Reported { job_id: id, claimant, report } = said;
    let id = job_id(&id)?;
    call.keep_to_own(id).await?;
    let job = call.broker().report_progress(id, claimant, report).await?;
    Ok(progress::of_job(&job))
}
