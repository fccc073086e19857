//! `GET /ojs/v1/jobs/{id}`: one job.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let job = call.broker().job(id).await?;
    Ok(Reply::ok(report::job(&job)))
}
