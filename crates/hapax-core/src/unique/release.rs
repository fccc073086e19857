//! How a job lost its key before its time.

use std::sync::Arc;

use super::Key;
use crate::{Job, Spec, Timestamp};

/// A key that was given up while its job went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// When.
    pub at: Timestamp,
    /// The key it had.
    pub key: Key,
    /// Who wanted it.
    pub by: Releaser,
    /// What they said about it.
    pub reason: Option<Box<str>>,
}

/// Who takes a key away from a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releaser {
    /// An operator, by hand.
    Operator,
    /// A newer job with the same job key, which came while this one ran.
    NewerJob,
    /// Somebody who removed the job key while the job ran.
    Removal,
}

impl Releaser {
    /// Every one of them.
    pub const ALL: [Releaser; 3] = [Releaser::Operator, Releaser::NewerJob, Releaser::Removal];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Releaser::Operator => "operator",
            Releaser::NewerJob => "newer_job",
            Releaser::Removal => "removal",
        }
    }
}

/// The job without its key; nothing changes for one that has none.
pub(crate) fn released(job: &Job, by: Releaser, reason: Option<Box<str>>, now: Timestamp) -> Job {
    let mut next = job.clone();
    if let Some(key) = next.key.take() {
        next.released = Some(Release { at: now, key, by, reason });
    }
    next
}

/// The running job without its key and without another attempt: a newer job does its work, or nobody wants it done.
pub(crate) fn supersede(job: &Job, by: Releaser, now: Timestamp) -> Job {
    let mut next = released(job, by, None, now);
    let mut spec: Spec = (*next.spec).clone();
    spec.retry.max_attempts = job.attempt;
    next.spec = Arc::new(spec);
    next
}
