//! What happens to workers (Events 3.4), as far as this server hears of them.

use std::time::Duration;

use hapax_core::{QueueName, Timestamp, WorkerId};

use super::EventKind;
use super::event::{News, Unnumbered};

/// What happened to a worker, with the `data` members of Events 4.3. What it never said is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerFact {
    /// It was heard of for the first time, or again after it had stopped.
    Started {
        /// From which queues it takes jobs.
        queues: Option<Vec<QueueName>>,
        /// How many jobs it works on at a time.
        concurrency: Option<u64>,
    },
    /// It is gone.
    Stopped {
        /// Whether somebody had told it to wind down, or it had said that it did.
        wound_down: bool,
        /// How long it ran.
        uptime: Duration,
    },
    /// It gets no new jobs.
    Quiet {
        /// How many it works on.
        active_jobs: Option<u64>,
    },
    /// It is there.
    Heartbeat {
        /// How many jobs it works on.
        active_jobs: Option<u64>,
        /// From which queues it takes jobs.
        queues: Option<Vec<QueueName>>,
    },
}

impl WorkerFact {
    pub(super) const fn kind(&self) -> EventKind {
        match self {
            WorkerFact::Started { .. } => EventKind::WorkerStarted,
            WorkerFact::Stopped { .. } => EventKind::WorkerStopped,
            WorkerFact::Quiet { .. } => EventKind::WorkerQuiet,
            WorkerFact::Heartbeat { .. } => EventKind::WorkerHeartbeat,
        }
    }

    pub(crate) fn at(self, id: &WorkerId, at: Timestamp) -> Unnumbered {
        Unnumbered { at, queue: None, news: News::Worker { id: id.clone(), fact: self }, traced: None }
    }
}
