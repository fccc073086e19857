//! `POST /ojs/v1/jobs/batch`: accepts all of these jobs or none.

use hapax_broker::Receipt;

use super::memo;
use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let drafts = {
        let body = from_wire::read(&call.body)?;
        from_wire::batch(&body, call.media, call.broker().now(), call.shared.limits.job_bytes)?
    };
    let memo = memo::memo(&call)?;
    match call.broker().enqueue_all(drafts, call.id.as_str(), memo).await? {
        Receipt::Fresh(admitted) => Ok(admission::many(&admitted)),
        Receipt::Remembered(before) => Ok(memo::replay(&before)),
    }
}
