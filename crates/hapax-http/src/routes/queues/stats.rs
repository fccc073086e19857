//! `GET /ojs/v1/queues/{name}/stats`: how many jobs of a queue stand where.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let name = call.queue()?;
    let facts = call.broker().queue(name.clone()).await?;
    let hour = call.broker().last_hour(Some(&name));
    let openness = call.broker().openness(&name, facts.as_ref());
    let now = call.broker().now();
    Ok(Reply::ok(queue::stats(&name, facts.as_ref(), openness, &hour, call.dialect, now)))
}
