//! `DELETE /ojs/v1/jobs/{id}` and `POST /ojs/v1/jobs/{id}/cancel`: calls a job off.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::tenants::Deed;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let job = call.broker().cancel(id).await?;
    call.shared.tenants.count(&job, Deed::Cancelled);
    Ok(Reply::ok(report::job(&job)))
}
