//! `POST /ojs/v1/jobs`: accepts a job.

use hapax_broker::Receipt;

use super::memo;
use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let draft = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::job(&body, call.media, call.broker().now())?.draft
    };
    let id = call.id.clone();
    let memo = memo::memo(&call, None, move |answer| admission::reply(answer, &id))?;
    match call.broker().enqueue(draft, call.id.as_str(), memo).await? {
        Receipt::Fresh(admitted) => Ok(admission::one(&admitted)),
        Receipt::Remembered(before) => Ok(memo::replay_at_job(&before)),
    }
}
