//! A request as a route sees it.

use std::sync::Arc;

use axum::http::{HeaderValue, Uri};
use hapax_broker::Broker;
use hapax_core::unique::Key;
use hapax_core::{JobId, QueueName, Refusal};

use crate::body::Collected;
use crate::compat::Dialect;
use crate::from_wire::{Fault, Media, Place};
use crate::problem::Problem;
use crate::request_id::RequestId;
use crate::shared::Shared;

/// A request whose head was checked and whose body was read.
#[derive(Debug)]
pub(crate) struct Call {
    /// What all requests share.
    pub(crate) shared: Arc<Shared>,
    /// Its name.
    pub(crate) id: RequestId,
    /// Which shapes the client reads.
    pub(crate) dialect: Dialect,
    /// The path with its query.
    pub(crate) uri: Uri,
    /// The variable part of the path, decoded.
    pub(crate) parameter: Box<str>,
    /// What the body was sent as.
    pub(crate) media: Media,
    /// The body.
    pub(crate) body: Collected,
    /// The client's `Idempotency-Key`, as it came.
    pub(crate) idempotency_key: Option<HeaderValue>,
}

impl Call {
    /// Who does the work.
    pub(crate) fn broker(&self) -> &Broker {
        &self.shared.broker
    }

    /// The job that the path names. One that no job can have is not found.
    pub(crate) fn job_id(&self) -> Result<JobId, Problem> {
        job_id(&self.parameter)
    }

    /// The queue that the path names.
    pub(crate) fn queue(&self) -> Result<QueueName, Problem> {
        let wrong = |error| Fault::new(Place::Member(&Place::Body, "path"), error);
        Ok(QueueName::parse(&self.parameter).map_err(wrong)?)
    }

    /// The uniqueness key that the path names.
    pub(crate) fn key(&self) -> Result<Key, Problem> {
        let problem = "must be a uniqueness key, which has 64 lower-case hexadecimal digits";
        let wrong = |()| Fault::new(Place::Member(&Place::Body, "path"), problem);
        Ok(self.parameter.parse().map_err(wrong)?)
    }
}

/// The id that the text is. Another text names no job, and the answer is that of a missing job.
pub(crate) fn job_id(text: &str) -> Result<JobId, Problem> {
    text.parse().map_err(|_| Problem::no_resource("job", text))
}

/// The same for dead letters.
pub(crate) fn dead_letter_id(text: &str) -> Result<JobId, Problem> {
    text.parse().map_err(|_| Problem::no_resource("dead_letter", text))
}

/// That there is no such dead letter.
pub(crate) fn no_dead_letter(id: JobId) -> Problem {
    Refusal::NoDeadLetter(id).into()
}
