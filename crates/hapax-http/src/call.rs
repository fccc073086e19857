//! A request as a route sees it.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, Uri, request};
use hapax_broker::{Broker, ROOM_WAIT_MAX};
use hapax_core::unique::Key;
use hapax_core::{Admission, Job, JobFilter, JobId, QueueName, Refusal, TenantId};

use crate::body::Collected;
use crate::compat::Dialect;
use crate::from_wire::{Fault, Intake, Media, Place};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::request_id::RequestId;
use crate::shared::Shared;
use crate::tenancy;
use crate::tenants::Deed;

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
    /// The second variable part of the path, if it has two.
    pub(crate) second: Box<str>,
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// What the body was sent as.
    pub(crate) media: Media,
    /// The body.
    pub(crate) body: Collected,
    /// The client's `Idempotency-Key`, as it came.
    pub(crate) idempotency_key: Option<HeaderValue>,
    /// The client's `OJS-Block-Timeout`, as it came.
    pub(crate) block_timeout: Option<HeaderValue>,
    /// The rest of the head, for the routes that last.
    pub(crate) head: Option<Box<request::Parts>>,
}

impl Call {
    /// What the jobs of the body are read with.
    pub(crate) async fn intake(&self) -> Result<Intake, Problem> {
        let now = self.broker().now();
        let schemas = self.shared.schemas.current(self.broker(), now).await?;
        let entrance = Arc::clone(&self.shared.entrance);
        Ok(Intake::at(entrance, self.origin.clone(), self.media, now, schemas))
    }

    /// The tenant to whom the request keeps, if it says one. Where it has to, that was seen to before.
    pub(crate) fn tenant(&self) -> Option<&TenantId> {
        self.origin.tenant.as_ref()
    }

    /// The same jobs, as far as they are those of the tenant.
    pub(crate) fn own(&self, filter: JobFilter) -> JobFilter {
        match self.tenant() {
            Some(tenant) => filter.kept_to(tenant),
            None => filter,
        }
    }

    /// Counts jobs that were created for the tenants to whom they belong.
    pub(crate) fn count_enqueued<'a>(&self, admissions: impl IntoIterator<Item = &'a Admission>) {
        for admission in admissions.into_iter().filter(|admission| admission.verdict.is_new()) {
            self.shared.tenants.count(&admission.job, Deed::Enqueued);
        }
    }

    /// Refuses to speak of a job of another tenant that the body names.
    pub(crate) async fn keep_to_own(&self, id: JobId) -> Result<(), Problem> {
        match self.tenant() {
            Some(tenant) => tenancy::keep_job(self.broker(), tenant, id).await,
            None => Ok(()),
        }
    }

    /// For whom it listens.
    pub(crate) fn listener(&self) -> tenancy::Listener {
        let is_required = self.shared.entrance.require_tenant;
        tenancy::Listener { tenant: self.tenant().cloned(), is_required }
    }

    /// Who does the work.
    pub(crate) fn broker(&self) -> &Broker {
        &self.shared.broker
    }

    /// How long the client waits for room in a full queue, if it does.
    pub(crate) fn room_wait(&self) -> Result<Option<Duration>, Problem> {
        let Some(header) = &self.block_timeout else { return Ok(None) };
        let most = ROOM_WAIT_MAX.as_secs();
        let seconds =
            header.to_str().ok().and_then(|text| text.parse().ok()).filter(|seconds| *seconds <= most);
        let problem = format_args!("must be a number of whole seconds, at most {most}");
        let wrong = || Fault::new(Place::Member(&Place::Body, "OJS-Block-Timeout"), problem);
        Ok(Some(Duration::from_secs(seconds.ok_or_else(wrong)?)))
    }

    /// Refuses to wait for room: for many jobs there may never be enough at a time.
    pub(crate) fn refuse_room_wait(&self) -> Result<(), Problem> {
        let Some(_) = &self.block_timeout else { return Ok(()) };
        let problem =
            "waits for room for one job; send many without it, and again after the time in Retry-After";
        Err(Fault::new(Place::Member(&Place::Body, "OJS-Block-Timeout"), problem).into())
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

/// That a job is no dead letter.
pub(crate) fn no_dead_letter(job: &Job) -> Problem {
    Refusal::NoDeadLetter { id: job.id, state: job.state() }.into()
}
