//! What becomes of the jobs of a queue that an operator deletes.

use crate::{Event, JobFilter, QueueName, StateSet};

/// What happens to each job that waits in the queue. Those that run end where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// It is given up.
    Discard,
    /// It goes to another queue.
    MoveTo(QueueName),
}

impl Deletion {
    /// What happens to each of its jobs.
    pub fn event(&self) -> Event {
        match self {
            Deletion::Discard => Event::LoseQueue,
            Deletion::MoveTo(queue) => Event::MoveTo { queue: queue.clone() },
        }
    }

    /// The jobs to which it happens.
    pub fn concerns(queue: QueueName) -> JobFilter {
        JobFilter { queue: Some(queue), states: StateSet::WAITING, ..JobFilter::default() }
    }

    /// Where its jobs go, if they do.
    pub fn target(&self) -> Option<&QueueName> {
        match self {
            Deletion::Discard => None,
            Deletion::MoveTo(queue) => Some(queue),
        }
    }
}
