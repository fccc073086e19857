//! `GET /ojs/v1/jobs/{id}/events`: what happens to a job, as it happens, to its end.

use hapax_broker::Channel;

use crate::answer::Answer;
use crate::call::Call;
use crate::problem::Problem;
use crate::routes::events;

pub(crate) async fn run(call: Call) -> Result<Answer, Problem> {
    let channel = Channel::Job(call.job_id()?);
    events::tell(call, Some(channel)).await
}
