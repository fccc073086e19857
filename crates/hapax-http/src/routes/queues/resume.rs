//! `POST /ojs/v1/queues/{name}/resume`: lets a queue give out jobs again.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let facts = call.broker().resume(call.queue()?).await?;
    let openness = call.broker().openness(&facts.name, Some(&facts));
    Ok(Reply::ok(queue::switched(&facts, openness, call.broker().now())))
}
