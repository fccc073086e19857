//! `GET /ojs/v1/workflows`: workflows, the oldest first.

use crate::call::Call;
use crate::from_wire::{self, WorkflowList};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::workflow;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let WorkflowList { part, listing, states } = from_wire::workflows(&call.uri)?;
    let page = call.broker().workflows(part, states.as_deref()).await?;
    Ok(Reply::ok(workflow::list(&page, listing)))
}
