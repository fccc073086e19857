//! Reading bodies with many jobs.

use hapax_core::Timestamp;
use hapax_core::json::Node;
use hapax_wire::error::Code;
use tokio::task::spawn_blocking;

use crate::call::Call;
use crate::from_wire::{self, Fault, Media};
use crate::limits::LARGE_BODY_BYTES;
use crate::problem::Problem;

/// Reads a body into jobs, none of them larger than the last argument says.
pub(super) type Read<T> = fn(&Node<'_>, Media, Timestamp, usize) -> Result<T, Fault>;

/// The jobs of the body. Megabytes of JSON keep a thread busy for a while, and that must not be one that serves.
pub(super) async fn jobs<T: Send + 'static>(call: &Call, read: Read<T>) -> Result<T, Problem> {
    let (body, media, now) = (call.body.bytes.clone(), call.media, call.broker().now());
    let job_bytes = call.shared.limits.job_bytes;
    let work = move || read(&from_wire::read(&body)?, media, now, job_bytes);
    if call.body.bytes.len() <= LARGE_BODY_BYTES {
        return Ok(work()?);
    }
    // The semaphore is never closed, and an error would only mean that there is no limit.
    let _place = call.shared.large_bodies.acquire().await;
    let done = spawn_blocking(work).await;
    Ok(done.map_err(|_| Problem::new(Code::Internal, "the server has a defect; it was logged"))??)
}
