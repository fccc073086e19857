//! `GET /ojs/v1/workflows/{id}`: a workflow and where its steps stand.

use super::id;
use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::workflow;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let view = call.broker().workflow(id(&call)?).await?;
    let view = view.ok_or_else(|| Problem::no_resource("workflow", &call.parameter))?;
    Ok(Reply::ok(workflow::one(&view, call.dialect)))
}
