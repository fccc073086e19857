//! `DELETE /ojs/v1/queues/{name}`: a queue, and what becomes of its jobs.

use axum::http::StatusCode;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue_settings;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let queue = call.queue()?;
    let deletion = {
        // Who says nothing hears what can be said.
        let bytes: &[u8] = if call.body.bytes.is_empty() { b"{}" } else { &call.body.bytes };
        let body = from_wire::read(bytes)?;
        from_wire::queue_deletion(&body, &queue)?
    };
    let deleting = call.broker().delete_queue(&queue, deletion.clone()).await?;
    let body = queue_settings::deleted(&queue, deletion.as_ref(), deleting);
    Ok(Reply::json(StatusCode::ACCEPTED, body))
}
