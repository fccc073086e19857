//! `DELETE /ojs/v1/dead-letter/{id}`: throws a dead letter away.

use crate::call::{Call, dead_letter_id};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = dead_letter_id(&call.parameter)?;
    call.broker().forget(id).await?;
    Ok(Reply::ok(report::deleted(id)))
}
