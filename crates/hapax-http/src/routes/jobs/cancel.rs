//! `DELETE /ojs/v1/jobs/{id}` and `POST /ojs/v1/jobs/{id}/cancel`: calls a job off.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let job = call.broker().cancel(call.job_id()?).await?;
    Ok(Reply::ok(report::job(&job)))
}
