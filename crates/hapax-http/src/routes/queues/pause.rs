//! `POST /ojs/v1/queues/{name}/pause`: lets a queue give out no jobs.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let facts = call.broker().pause(call.queue()?).await?;
    Ok(Reply::ok(queue::switched(&facts, call.broker().now())))
}
