//! `GET /ojs/v1/workflows/{id}/progress`: how far a workflow has come.

use super::id;
use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::progress;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let view = call.broker().workflow(id(&call)?).await?;
    let view = view.ok_or_else(|| Problem::no_resource("workflow", &call.parameter))?;
    Ok(progress::of_workflow(&view))
}
