//! Where a job stands, with the facts that belong to that place.

use crate::{JobId, Json, Lease, State, Timestamp};

/// A job's state with its facts.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Waits for its start time.
    Scheduled {
        /// The start time.
        at: Timestamp,
    },
    /// Waits for a worker.
    Available {
        /// The lease that ran out last: until the next fetch its holder may still complete the job.
        lapsed: Option<Lease>,
    },
    /// Waits for somebody to activate it, or for the end of another job.
    Pending {
        /// The job whose end lets it go.
        after: Option<JobId>,
    },
    /// A worker holds it.
    Active {
        /// The worker's right to it.
        lease: Lease,
        /// When the attempt has run too long, heartbeats or not.
        times_out_at: Option<Timestamp>,
    },
    /// Waits for its next attempt.
    Retryable {
        /// When that comes.
        at: Timestamp,
    },
    /// Done.
    Completed {
        /// Since when.
        at: Timestamp,
        /// What the worker brought back.
        result: Option<Json>,
    },
    /// Called off.
    Cancelled {
        /// Since when.
        at: Timestamp,
        /// Where it stood before.
        from: State,
    },
    /// Given up.
    Discarded {
        /// Since when.
        at: Timestamp,
        /// Why.
        cause: Cause,
        /// Whether the dead-letter list shows it.
        dead_letter: bool,
    },
}

/// Why a job was given up.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// Its last attempt failed, or failed in a way that allows no other.
    Failed,
    /// The lease of its last attempt ran out; the holder may still complete it.
    LeaseExpired(Lease),
    /// Nobody started it before it expired.
    Expired,
}

impl Phase {
    /// The bare state.
    pub fn state(&self) -> State {
        match self {
            Phase::Scheduled { .. } => State::Scheduled,
            Phase::Available { .. } => State::Available,
            Phase::Pending { .. } => State::Pending,
            Phase::Active { .. } => State::Active,
            Phase::Retryable { .. } => State::Retryable,
            Phase::Completed { .. } => State::Completed,
            Phase::Cancelled { .. } => State::Cancelled,
            Phase::Discarded { .. } => State::Discarded,
        }
    }

    /// When the job's life ended.
    pub fn finished_at(&self) -> Option<Timestamp> {
        match self {
            Phase::Completed { at, .. } | Phase::Cancelled { at, .. } | Phase::Discarded { at, .. } => {
                Some(*at)
            }
            Phase::Scheduled { .. }
            | Phase::Available { .. }
            | Phase::Pending { .. }
            | Phase::Active { .. }
            | Phase::Retryable { .. } => None,
        }
    }

    /// Whether the dead-letter list shows a job in this phase.
    pub fn is_dead_letter(&self) -> bool {
        matches!(self, Phase::Discarded { dead_letter: true, .. })
    }
}
