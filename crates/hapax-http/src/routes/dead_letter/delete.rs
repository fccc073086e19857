//! `DELETE /ojs/v1/dead-letter/{id}`: throws a dead letter away.

use hapax_wire::writer;

use crate::call::{Call, dead_letter_id};
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = dead_letter_id(&call.parameter)?;
    call.broker().forget(id).await?;
    let mut out = Vec::with_capacity(80);
    writer::object(&mut out, |o| {
        o.flag("deleted", true);
        o.plain("job_id", id);
    });
    Ok(Reply::ok(out))
}
