//! `POST /ojs/v1/workers/register`: a worker has started.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::worker;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (id, report) = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::registration(&body)?
    };
    call.broker().register_worker(&id, report);
    let visibility = call.broker().rules().visibility_timeout.as_secs();
    Ok(Reply::ok(worker::registered(id.as_str(), visibility, call.broker().now())))
}
