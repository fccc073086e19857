//! Reading bodies with jobs, some of which take long.

use hapax_core::json::Node;
use hapax_wire::error::Code;
use tokio::task::spawn_blocking;

use crate::call::Call;
use crate::from_wire::{self, Fault, Intake};
use crate::limits::LARGE_BODY_BYTES;
use crate::problem::Problem;

/// Reads a body into jobs, none of them larger than the last argument says.
pub(in crate::routes) type Read<T> = fn(&Node<'_>, &Intake, usize) -> Result<T, Fault>;

/// What the body says of one job, and what the client is to be told beside the answer.
pub(in crate::routes) async fn one<T: Send + 'static>(
    call: &Call,
    read: fn(&Node<'_>, &Intake) -> Result<T, Fault>,
) -> Result<(T, Vec<String>), Problem> {
    let intake = call.intake().await?;
    let work = move |body: &[u8], intake: &Intake| {
        let read = read(&from_wire::read(body)?, intake)?;
        Ok::<_, Fault>((read, intake.warnings()))
    };
    if !intake.may_take_long(call.body.bytes.len()) {
        return Ok(work(&call.body.bytes, &intake)?);
    }
    let body = call.body.bytes.clone();
    Box::pin(aside(call, move || work(&body, &intake))).await
}

/// The jobs of the body, and what the client is to be told beside the answer.
pub(in crate::routes) async fn jobs<T: Send + 'static>(
    call: &Call,
    read: Read<T>,
) -> Result<(T, Vec<String>), Problem> {
    call.refuse_room_wait()?;
    let (body, intake) = (call.body.bytes.clone(), call.intake().await?);
    let job_bytes = call.shared.limits.job_bytes;
    let is_large = body.len() > LARGE_BODY_BYTES || intake.may_take_long(body.len());
    let work = move || {
        let read = read(&from_wire::read(&body)?, &intake, job_bytes)?;
        Ok::<_, Fault>((read, intake.warnings()))
    };
    if is_large { Box::pin(aside(call, work)).await } else { Ok(work()?) }
}

/// Does what keeps a thread busy for a while: that must not be one that serves, and not all others at once.
pub(in crate::routes) async fn aside<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Problem> {
    // The semaphore is never closed, and an error would only mean that there is no limit.
    let _place = call.shared.large_bodies.acquire().await;
    let done = spawn_blocking(work).await;
    Ok(done.map_err(|_| Problem::new(Code::Internal, "the server has a defect; it was logged"))??)
}
