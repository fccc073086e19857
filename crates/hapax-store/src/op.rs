//! Operations: what a store is asked to do.

use hapax_core::unique::Key;
use hapax_core::{Event, Incoming, JobId, QueueName, StateSet, Timestamp};

use crate::Memo;

/// One operation, atomic on its own.
#[derive(Debug, Clone)]
pub struct Op {
    /// The moment for which it is decided.
    pub now: Timestamp,
    /// What to do.
    pub action: Action,
}

/// What an operation does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Admits one job. A taken id is refused before anything is asked about uniqueness; a job that its policy
    /// rejects is no refusal here, since its holder takes note of it.
    Enqueue {
        /// The job.
        incoming: Box<Incoming>,
        /// Under which idempotency key to remember the answer.
        memo: Option<Memo>,
    },
    /// Admits all of these jobs or none; each sees the ones before it. A taken id or a rejected job refuses the
    /// batch, and then nothing of it is left: no job, no ledger entry, no queue.
    EnqueueAll {
        /// The jobs.
        incoming: Vec<Incoming>,
        /// Under which idempotency key to remember the answer.
        memo: Option<Memo>,
    },
    /// Admits each of these jobs that can be admitted; each sees the ones before it. One that is refused or rejected
    /// holds up no other.
    EnqueueEach {
        /// The jobs.
        incoming: Vec<Incoming>,
        /// Under which idempotency key to remember the answer.
        memo: Option<Memo>,
    },
    /// Lets something happen to a job.
    Step {
        /// The job.
        id: JobId,
        /// What happens.
        event: Event,
    },
    /// Lets something happen to the jobs that carry a key and are in one of the states: those that live before those that
    /// have ended, and of both the newest first, of equally new ones the larger id first. Those to which it cannot happen
    /// are passed over; it is refused if there is no other.
    StepHolders {
        /// The key.
        key: Key,
        /// In which states.
        states: StateSet,
        /// What happens.
        event: Event,
        /// At most to so many.
        limit: usize,
    },
    /// Lets a queue give out no jobs. Makes the queue if it was never used.
    Pause(QueueName),
    /// Lets a queue give out jobs again. Makes the queue if it was never used.
    Resume(QueueName),
}
