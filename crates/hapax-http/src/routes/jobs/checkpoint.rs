//! `/ojs/v1/jobs/{id}/checkpoint` and `/ojs/v1/checkpoints/{id}`: from where the next attempt can go on.

use crate::call::Call;
use crate::from_wire::{self, Saved};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::progress;

pub(crate) async fn save(call: Call) -> Result<Reply, Problem> {
    let Saved { claimant, state, notes } =
        from_wire::checkpoint(&from_wire::read(&call.body.bytes)?, &call.parameter)?;
    let job = call.broker().save_checkpoint(call.job_id()?, claimant, state, notes).await?;
    let saved = job.checkpoint.as_ref().ok_or_else(|| nothing_there(&call))?;
    Ok(Reply::ok(progress::checkpoint_saved(job.id, saved)))
}

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let saved = call.broker().checkpoint(id).await?.ok_or_else(|| nothing_there(&call))?;
    Ok(Reply::ok(progress::checkpoint(id, &saved)))
}

/// The same for the official SDKs, to whom it is no error that there is none.
pub(crate) async fn resume(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let saved = call.broker().checkpoint(id).await?;
    Ok(Reply::ok(progress::resume(id, saved.as_ref())))
}

pub(crate) async fn delete(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let was_there = call.broker().checkpoint(id).await?.is_some();
    call.broker().drop_checkpoint(id).await?;
    Ok(Reply::ok(progress::checkpoint_deleted(id, was_there)))
}

fn nothing_there(call: &Call) -> Problem {
    Problem::no_resource("checkpoint", &call.parameter)
}
