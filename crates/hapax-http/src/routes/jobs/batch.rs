//! `POST /ojs/v1/jobs/batch`: accepts all of these jobs or none.

use bytes::Bytes;
use hapax_broker::{Draft, Receipt};
use hapax_core::Timestamp;
use hapax_wire::error::Code;
use tokio::task::spawn_blocking;

use super::memo;
use crate::call::Call;
use crate::from_wire::{self, Fault, Media};
use crate::limits::LARGE_BODY_BYTES;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let drafts = drafts(&call).await?;
    let memo = memo::memo(&call)?;
    match call.broker().enqueue_all(drafts, call.id.as_str(), memo).await? {
        Receipt::Fresh(admitted) => Ok(admission::many(&admitted)),
        Receipt::Remembered(before) => Ok(memo::replay(&before)),
    }
}

/// The jobs of the body. Megabytes of JSON keep a thread busy for a while, and that must not be one that serves.
async fn drafts(call: &Call) -> Result<Vec<Draft>, Problem> {
    let (body, media, now) = (call.body.bytes.clone(), call.media, call.broker().now());
    let job_bytes = call.shared.limits.job_bytes;
    if body.len() <= LARGE_BODY_BYTES {
        return Ok(read(&body, media, now, job_bytes)?);
    }
    // The semaphore is never closed, and an error would only mean that there is no limit.
    let _place = call.shared.large_bodies.acquire().await;
    let read = spawn_blocking(move || read(&body, media, now, job_bytes)).await;
    Ok(read.map_err(|_| Problem::new(Code::Internal, "the server has a defect; it was logged"))??)
}

fn read(body: &Bytes, media: Media, now: Timestamp, job_bytes: usize) -> Result<Vec<Draft>, Fault> {
    from_wire::batch(&from_wire::read(body)?, media, now, job_bytes)
}
