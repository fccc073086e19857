//! `DELETE /ojs/v1/workflows/{id}`, and `POST …/cancel` for the official admin UI: calls a workflow off.

use super::id;
use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::workflow;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let followed = call.broker().cancel_workflow(id(&call)?).await?;
    Ok(Reply::ok(workflow::cancelled(&followed)))
}
