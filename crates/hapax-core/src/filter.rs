//! Which jobs are meant: what lists and operations on many jobs choose by.

use crate::canonical::{self, CanonicalError};
use crate::json::{self, Limits, Node};
use crate::{
    Job, JobType, NameError, Phase, Priority, QueueName, StateSet, TENANT_MEMBER, TenantId, Timestamp,
    WorkerId,
};

/// Jobs that fit all of this; everything that is left out fits every job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobFilter {
    /// On this queue.
    pub queue: Option<QueueName>,
    /// In one of these states.
    pub states: StateSet,
    /// Of this type, or of one that begins like this.
    pub kind: Option<KindPattern>,
    /// Of this priority.
    pub priority: Option<Priority>,
    /// Accepted in this time.
    pub created: TimeRange,
    /// Last became available in this time.
    pub enqueued: TimeRange,
    /// Ended in this time.
    pub ended: TimeRange,
    /// Held by this worker.
    pub worker: Option<WorkerId>,
    /// In the dead-letter list, if true.
    pub dead_letters_only: bool,
    /// With a newest failure of this type.
    pub error_type: Option<Box<str>>,
    /// With these members among its metadata.
    pub meta: Vec<MetaMember>,
}

impl Default for JobFilter {
    fn default() -> Self {
        JobFilter {
            queue: None,
            states: StateSet::ALL,
            kind: None,
            priority: None,
            created: TimeRange::ALWAYS,
            enqueued: TimeRange::ALWAYS,
            ended: TimeRange::ALWAYS,
            worker: None,
            dead_letters_only: false,
            error_type: None,
            meta: Vec::new(),
        }
    }
}

impl JobFilter {
    /// Whether the job is meant.
    pub fn fits(&self, job: &Job) -> bool {
        let JobFilter {
            queue,
            states,
            kind,
            priority,
            created,
            enqueued,
            ended,
            worker,
            dead_letters_only,
            error_type,
            meta,
        } = self;
        states.contains(job.state())
            && queue.as_ref().is_none_or(|queue| job.spec.queue == *queue)
            && kind.as_ref().is_none_or(|kind| kind.fits(&job.spec.kind))
            && priority.is_none_or(|priority| job.spec.priority == priority)
            && created.holds(Some(job.created_at))
            && enqueued.holds(job.enqueued_at)
            && ended.holds(job.phase.finished_at())
            && worker.as_ref().is_none_or(|worker| holder(job) == Some(worker))
            && (!dead_letters_only || job.phase.is_dead_letter())
            && error_type.as_deref().is_none_or(|kind| newest_error(job) == Some(kind))
            && has_members(job, meta)
    }

    /// The same jobs, as far as they belong to the tenant.
    #[must_use]
    pub fn kept_to(mut self, tenant: &TenantId) -> JobFilter {
        self.meta.push(MetaMember::text(TENANT_MEMBER, tenant.as_str()));
        self
    }

    /// Whether every job is meant.
    pub fn is_empty(&self) -> bool {
        *self == JobFilter::default()
    }
}

fn holder(job: &Job) -> Option<&WorkerId> {
    match &job.phase {
        Phase::Active { lease, .. } => lease.worker.as_ref(),
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. }
        | Phase::Discarded { .. } => None,
    }
}

fn newest_error(job: &Job) -> Option<&str> {
    job.history.entries().last().map(|failure| &*failure.kind)
}

fn has_members(job: &Job, members: &[MetaMember]) -> bool {
    if members.is_empty() {
        return true;
    }
    let limits = Limits { depth_max: Limits::DEPTH_CEILING };
    json::read(job.spec.meta.as_str(), limits)
        .is_ok_and(|meta| members.iter().all(|member| meta.get(&member.name).is_some_and(|n| member.is(n))))
}

/// A job type, or how one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KindPattern {
    /// This type and no other.
    Exactly(JobType),
    /// Every type that begins with this text.
    StartsWith(Box<str>),
}

impl KindPattern {
    /// Reads a type such as `email.send`, or a beginning with a star such as `email.*`.
    pub fn parse(text: &str) -> Result<KindPattern, NameError> {
        let Some(beginning) = text.strip_suffix('*') else {
            return JobType::parse(text).map(KindPattern::Exactly);
        };
        // What begins a type is a type once something follows: the letter stands for that.
        let is_beginning = beginning.is_empty() || JobType::parse(&format!("{beginning}a")).is_ok();
        if is_beginning {
            Ok(KindPattern::StartsWith(beginning.into()))
        } else {
            Err(NameError::JobType(text.chars().take(64).collect()))
        }
    }

    /// Whether the type is meant.
    pub fn fits(&self, kind: &JobType) -> bool {
        match self {
            KindPattern::Exactly(wanted) => wanted == kind,
            KindPattern::StartsWith(beginning) => kind.as_str().starts_with(&**beginning),
        }
    }
}

/// From one moment until before another; without an end where none is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first moment in it.
    pub since: Option<Timestamp>,
    /// The first moment after it.
    pub until: Option<Timestamp>,
}

impl TimeRange {
    /// Every moment, and also what never happened.
    pub const ALWAYS: TimeRange = TimeRange { since: None, until: None };

    /// Whether the moment lies in it. What never happened lies in no range that has an end.
    pub fn holds(&self, moment: Option<Timestamp>) -> bool {
        if *self == TimeRange::ALWAYS {
            return true;
        }
        let TimeRange { since, until } = self;
        moment.is_some_and(|at| since.is_none_or(|since| since <= at) && until.is_none_or(|until| at < until))
    }
}

/// A member of a job's metadata, compared as values are: `1` is `1.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaMember {
    name: Box<str>,
    canonical: Box<str>,
}

impl MetaMember {
    /// The member of that name and value.
    pub fn new(name: &str, value: &Node<'_>) -> Result<MetaMember, CanonicalError> {
        let mut canonical = String::new();
        canonical::write(value, &mut canonical)?;
        Ok(MetaMember { name: name.into(), canonical: canonical.into() })
    }

    /// The member of that name whose value is this text.
    pub fn text(name: &str, text: &str) -> MetaMember {
        let mut canonical = String::with_capacity(text.len() + 2);
        canonical::write_string(text, &mut canonical);
        MetaMember { name: name.into(), canonical: canonical.into() }
    }

    fn is(&self, value: &Node<'_>) -> bool {
        let mut canonical = String::new();
        canonical::write(value, &mut canonical).is_ok() && *canonical == *self.canonical
    }
}

#[cfg(test)]
mod tests;
