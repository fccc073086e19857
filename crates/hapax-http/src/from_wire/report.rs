//! What a worker says at the end of an attempt: done, or failed.

use hapax_core::json::Node;
use hapax_core::{Claimant, Handback, Json, WorkerError};

use super::worker_error::worker_error;
use super::{Fault, Given, Place};

/// The body of an acknowledgement.
#[derive(Debug)]
pub(crate) struct Acknowledgement {
    /// The id as text: one that no job can have is not found, rather than ill-formed.
    pub(crate) job_id: Box<str>,
    /// Who speaks.
    pub(crate) claimant: Claimant,
    /// What came of it.
    pub(crate) result: Option<Json>,
}

/// The body of a negative acknowledgement.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// The id as text.
    pub(crate) job_id: Box<str>,
    /// Who speaks.
    pub(crate) claimant: Claimant,
    /// What went wrong.
    pub(crate) error: WorkerError,
    /// Whether that counts as a failure.
    pub(crate) handback: Handback,
}

/// Reads an acknowledgement. With the id in the path there may be no body at all.
pub(crate) fn acknowledgement(body: Option<&Node<'_>>, path: Option<&str>) -> Result<Acknowledgement, Fault> {
    let body = body.map(Given::body).transpose()?;
    let result = body.as_ref().and_then(|body| body.member("result"));
    Ok(Acknowledgement {
        job_id: job_id(body.as_ref(), path)?,
        claimant: claimant(body.as_ref())?,
        result: result.map(|given| given.node.to_json()),
    })
}

/// Reads a negative acknowledgement. With the id in the path there may be no body at all.
pub(crate) fn rejection(body: Option<&Node<'_>>, path: Option<&str>) -> Result<Rejection, Fault> {
    let body = body.map(Given::body).transpose()?;
    let requeue = body.as_ref().and_then(|body| body.member("requeue"));
    let requeue = requeue.map_or(Ok(false), |given| given.flag())?;
    let error = body.as_ref().and_then(|body| body.member("error"));
    Ok(Rejection {
        job_id: job_id(body.as_ref(), path)?,
        claimant: claimant(body.as_ref())?,
        error: worker_error(error)?,
        handback: if requeue { Handback::Requeue } else { Handback::Failed },
    })
}

fn job_id(body: Option<&Given<'_, '_>>, path: Option<&str>) -> Result<Box<str>, Fault> {
    let wanted = "the id of the job";
    let given = body.and_then(|body| body.member("job_id"));
    match (given, path) {
        (Some(given), None) => given.text(wanted).map(Box::from),
        (Some(given), Some(path)) if given.text(wanted)? == path => Ok(path.into()),
        (Some(given), Some(_)) => Err(Fault::new(given.place, "is not the id in the path")),
        (None, Some(path)) => Ok(path.into()),
        (None, None) => Err(Fault::missing(Place::Member(&Place::Body, "job_id"), wanted)),
    }
}

fn claimant(body: Option<&Given<'_, '_>>) -> Result<Claimant, Fault> {
    let Some(body) = body else { return Ok(Claimant::UNNAMED) };
    let lease = body.member("lease");
    let lease = lease.as_ref().map(|given| given.text("the lease of the fetched job")).transpose()?;
    let worker = body.member("worker_id").map(|given| given.worker()).transpose()?;
    Ok(Claimant::showing(lease, worker))
}
