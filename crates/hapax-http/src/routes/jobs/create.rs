//! `POST /ojs/v1/jobs`: accepts a job.

use hapax_broker::Receipt;

use super::{memo, reading};
use crate::call::Call;
use crate::from_wire::{self, Drafted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (Drafted { draft, canonical: _ }, warnings) = reading::one(&call, from_wire::job).await?;
    let (id, told) = (call.id.clone(), warnings.clone());
    let memo = memo::memo(&call, None, move |answer| admission::reply(answer, &id).warning(&told))?;
    let receipt = match call.room_wait()? {
        // In a box: few wait for room, and the futures of the others need none for it.
        Some(patience) => {
            Box::pin(call.broker().enqueue_when_room(draft, call.id.as_str(), memo, patience)).await?
        }
        None => call.broker().enqueue(draft, call.id.as_str(), memo).await?,
    };
    match receipt {
        Receipt::Fresh(admitted) => {
            call.count_enqueued([&admitted]);
            let settings = admitted.depth.map(|_| call.broker().settings_of(&admitted.job.spec.queue));
            let reply = admission::with_rate(admission::one(&admitted).warning(&warnings), &admitted);
            Ok(admission::under_pressure(reply, &admitted, settings.as_ref()))
        }
        Receipt::Remembered(before) => Ok(memo::replay_at_job(&before)),
    }
}
