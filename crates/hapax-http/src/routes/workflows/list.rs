//! `GET /ojs/v1/workflows`: workflows, the oldest first.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::workflow;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (after, limit) = from_wire::workflows(&call.uri)?;
    let page = call.broker().workflows(after, limit).await?;
    Ok(Reply::ok(workflow::list(&page, limit)))
}
