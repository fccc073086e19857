//! `GET /ojs/v1/queues/{name}`: one queue.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let facts = call.broker().queue(call.queue()?).await?;
    let facts = facts.ok_or_else(|| Problem::no_resource("queue", &call.parameter))?;
    let openness = call.broker().openness(&facts.name, Some(&facts));
    Ok(Reply::ok(queue::one(&facts, openness)))
}
