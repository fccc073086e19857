//! What somebody can listen to.

use std::fmt;

use hapax_core::{JobId, QueueName};

use super::JobEvent;

/// What somebody can listen to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Channel {
    /// What happens to one job.
    Job(JobId),
    /// What happens in one queue.
    Queue(QueueName),
    /// What happens.
    All,
}

impl Channel {
    pub(super) fn carries(&self, event: &JobEvent) -> bool {
        match self {
            Channel::Job(id) => event.job_id() == Some(*id),
            Channel::Queue(name) => event.queue.as_ref() == Some(name),
            Channel::All => true,
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Channel::Job(id) => write!(f, "job:{id}"),
            Channel::Queue(name) => write!(f, "queue:{name}"),
            Channel::All => f.write_str("all"),
        }
    }
}
