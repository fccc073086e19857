//! `GET /ojs/v1/dead-letter/{id}`: one dead letter.

use crate::call::{Call, dead_letter_id, no_dead_letter};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = dead_letter_id(&call.parameter)?;
    let job = call.broker().job(id).await?;
    if job.phase.is_dead_letter() { Ok(Reply::ok(report::job(&job))) } else { Err(no_dead_letter(&job)) }
}
