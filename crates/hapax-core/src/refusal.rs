//! What the rules do not allow. Not an error of the machine: those have other types.

use crate::unique::Key;
use crate::{JobId, State, StateSet};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such job.
    #[error("no job has the id {0}")]
    NotFound(JobId),
    /// There is no such dead letter.
    #[error("no dead letter has the id {0}")]
    NoDeadLetter(JobId),
    /// The job is not where it would have to be.
    #[error("job {id} is {state}; it would have to be {expected}")]
    WrongState {
        /// The job.
        id: JobId,
        /// Where it is.
        state: State,
        /// Where it would have to be.
        expected: StateSet,
    },
    /// The worker does not hold the job, or not any longer.
    #[error("the lease on job {id} is lost; the job is {state}")]
    LeaseLost {
        /// The job.
        id: JobId,
        /// Where it is.
        state: State,
    },
    /// A job with this id exists already.
    #[error("a job with the id {id} exists already")]
    IdTaken {
        /// The id.
        id: JobId,
        /// Where that job is.
        state: State,
    },
    /// The job is a duplicate and its policy wants it rejected.
    #[error("job {existing} holds the same key and is {state}")]
    Duplicate {
        /// The newest holder.
        existing: JobId,
        /// Where it is.
        state: State,
        /// The key.
        key: Key,
    },
    /// The same `Idempotency-Key` came with another request.
    #[error("the idempotency key was used before with another request")]
    IdempotencyMismatch,
    /// One job of a batch was refused, and so the whole batch.
    #[error("job {index} of the batch: {refusal}")]
    InBatch {
        /// Which one, counted from 0.
        index: usize,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// Nothing was due.
    #[error("nothing is due for job {0}")]
    NotDue(JobId),
}
