//! What a worker says at the end of an attempt: done, or failed.

use hapax_core::json::Node;
use hapax_core::{Claimant, Handback, Json, WorkerError};

use hapax_wire::error::Code;

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

const ACKNOWLEDGED: &[&str] = &["job_id", "worker_id", "lease", "result"];
const REJECTED: &[&str] = &["job_id", "worker_id", "lease", "error", "requeue"];

/// Reads an acknowledgement. With the id in the path there may be no body at all.
pub(crate) fn acknowledgement(body: Option<&Node<'_>>, path: Option<&str>) -> Result<Acknowledgement, Fault> {
    let body = read(body, ACKNOWLEDGED)?;
    let result = body.as_ref().and_then(|body| body.member("result"));
    if let Some(given) = result {
        expect_short(given)?;
    }
    Ok(Acknowledgement {
        job_id: job_id(body.as_ref(), path)?,
        claimant: claimant(body.as_ref())?,
        result: result.map(|given| given.node.to_json()),
    })
}

/// A larger result belongs elsewhere, and a reference to it here (Results 7.2).
pub(crate) const RESULT_BYTES_MAX: usize = 1024 * 1024;

fn expect_short(result: Given<'_, '_>) -> Result<(), Fault> {
    let bytes = result.node.raw.len();
    if bytes <= RESULT_BYTES_MAX {
        return Ok(());
    }
    let problem = format_args!("has {bytes} bytes; the limit is {RESULT_BYTES_MAX}");
    Err(Fault::coded(Code::ResultTooLarge, result.place, problem))
}

/// Reads a negative acknowledgement. With the id in the path there may be no body at all.
pub(crate) fn rejection(body: Option<&Node<'_>>, path: Option<&str>) -> Result<Rejection, Fault> {
    let body = read(body, REJECTED)?;
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

fn read<'n, 'a>(body: Option<&'n Node<'a>>, known: &[&str]) -> Result<Option<Given<'n, 'a>>, Fault> {
    let body = body.map(Given::body).transpose()?;
    body.map_or(Ok(()), |body| body.refuse_near_misses(known))?;
    Ok(body)
}

/// The job that is spoken of: the body or the path names it.
pub(super) fn job_id(body: Option<&Given<'_, '_>>, path: Option<&str>) -> Result<Box<str>, Fault> {
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

/// Who speaks.
pub(super) fn claimant(body: Option<&Given<'_, '_>>) -> Result<Claimant, Fault> {
    let Some(body) = body else { return Ok(Claimant::UNNAMED) };
    let lease = body.member("lease");
    let lease = lease.as_ref().map(|given| given.text("the lease of the fetched job")).transpose()?;
    let worker = body.member("worker_id").map(|given| given.worker()).transpose()?;
    Ok(Claimant::showing(lease, worker))
}
