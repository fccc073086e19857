//! `GET /ojs/v1/jobs/{id}/progress/stream` and `GET /ojs/v1/jobs/{id}/result/stream`: a job, watched to its end.

use crate::answer::Answer;
use crate::call::Call;
use crate::from_wire;
use crate::live::{EventStream, Watch, Watched};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::watch::END;

/// How far it comes.
pub(crate) async fn progress(call: Call) -> Result<Answer, Problem> {
    watch(call, Watched::Progress).await
}

/// What comes of it.
pub(crate) async fn result(call: Call) -> Result<Answer, Problem> {
    watch(call, Watched::Result).await
}

async fn watch(call: Call, watched: Watched) -> Result<Answer, Problem> {
    let id = call.job_id()?;
    let known = from_wire::watching(&call.uri, call.head.as_ref().map(|head| &head.headers))?;
    let place = call.shared.streams.enter()?;
    let (watch, job) = Watch::open(call.broker(), id, watched, place).await?;
    // A browser whose stream ends comes back, for ever, unless the answer is that there is nothing.
    if known.as_deref() == Some(END) && job.state().is_terminal() {
        return Ok(Reply::nothing().into());
    }
    Ok(Answer::Stream(EventStream::of(watch)))
}
