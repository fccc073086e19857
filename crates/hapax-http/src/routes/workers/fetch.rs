//! `POST /ojs/v1/workers/fetch`: gives jobs to a worker.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let wish = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::wish(&body)?
    };
    let jobs = call.broker().fetch(wish.fetch).await?;
    Ok(Reply::ok(report::fetched(&jobs, wish.is_single)))
}
