//! `GET /ojs/v1/queues/{name}/events`: what happens in a queue, as it happens.

use hapax_broker::Channel;

use crate::answer::Answer;
use crate::call::Call;
use crate::problem::Problem;
use crate::routes::events;

pub(crate) async fn run(call: Call) -> Result<Answer, Problem> {
    let channel = Channel::Queue(call.queue()?);
    events::tell(call, Some(channel)).await
}
