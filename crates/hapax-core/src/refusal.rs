//! What the rules do not allow. Not an error of the machine: those have other types.

use crate::unique::{Key, KeyError};
use crate::{Admission, JobId, State, StateSet};

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
    /// With its new values the job could not have the key that its policy asks for.
    #[error("job {id} cannot have the key of its unique policy with these values")]
    KeyImpossible {
        /// The job.
        id: JobId,
        /// Why.
        #[source]
        error: KeyError,
    },
    /// An earlier job of the same batch stands against it, and is not stored either.
    #[error("it is a duplicate of job {of} of the same batch")]
    Twin {
        /// Which one, counted from 0.
        of: usize,
    },
    /// Nobody holds the key.
    #[error("no job holds this key")]
    KeyNotHeld,
    /// The payload that a holder would have after taking over a duplicate is too large.
    #[error("the payload of the job that takes it over would grow to {bytes} bytes; the limit is {max}")]
    PayloadFull {
        /// The holder; nothing if it is an earlier job of the same batch, which is not stored either.
        id: Option<JobId>,
        /// How large it would be.
        bytes: usize,
        /// How large it may be.
        max: usize,
    },
    /// So many jobs cannot be called off in one step.
    #[error("{count} jobs hold the same key; at most {max} can be replaced at a time")]
    TooManyHolders {
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// Nothing was due.
    #[error("nothing is due for job {0}")]
    NotDue(JobId),
}

impl Refusal {
    /// The refusal of a whole batch because of one of its jobs. A job that was admitted earlier in the same
    /// batch is not stored, so nobody is told of it by its id.
    #[must_use]
    pub fn in_batch(self, index: usize, admitted: &[Admission]) -> Refusal {
        let named = match &self {
            Refusal::IdTaken { id, .. } | Refusal::Duplicate { existing: id, .. } => Some(*id),
            Refusal::PayloadFull { id, .. } => *id,
            Refusal::NotFound(_)
            | Refusal::NoDeadLetter(_)
            | Refusal::WrongState { .. }
            | Refusal::LeaseLost { .. }
            | Refusal::IdempotencyMismatch
            | Refusal::InBatch { .. }
            | Refusal::KeyImpossible { .. }
            | Refusal::Twin { .. }
            | Refusal::KeyNotHeld
            | Refusal::TooManyHolders { .. }
            | Refusal::NotDue(_) => None,
        };
        let is_named = |other: &Admission| other.verdict.is_new() && Some(other.job.id) == named;
        let refusal = match (admitted.iter().position(is_named), self) {
            (Some(_), Refusal::PayloadFull { id: _, bytes, max }) => {
                Refusal::PayloadFull { id: None, bytes, max }
            }
            (Some(of), _) => Refusal::Twin { of },
            (None, other) => other,
        };
        Refusal::InBatch { index, refusal: Box::new(refusal) }
    }
}
