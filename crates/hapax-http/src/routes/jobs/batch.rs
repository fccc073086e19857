//! `POST /ojs/v1/jobs/batch`: accepts all of these jobs or none.

use hapax_broker::Receipt;

use super::{memo, reading};
use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (drafts, warnings) = reading::jobs(&call, from_wire::batch).await?;
    let (id, told) = (call.id.clone(), warnings.clone());
    let memo = memo::memo(&call, None, move |answer| admission::reply(answer, &id).warning(&told))?;
    match call.broker().enqueue_all(drafts, call.id.as_str(), memo).await? {
        Receipt::Fresh(admitted) => {
            call.count_enqueued(&admitted);
            Ok(admission::many(&admitted).warning(&warnings))
        }
        Receipt::Remembered(before) => Ok(memo::replay(&before)),
    }
}
