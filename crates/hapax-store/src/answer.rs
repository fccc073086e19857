//! What a store answers to an operation.

use hapax_core::{Admission, Job, Refusal, State};

use crate::{QueueFacts, Remembered};

/// Done, or refused by the rules.
pub type Answer = Result<Done, Refusal>;

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub enum Done {
    /// A job was admitted or turned away; the admission says which.
    Enqueued(Box<Admission>),
    /// All jobs of a batch were admitted or answered by holders, in order.
    EnqueuedAll(Vec<Admission>),
    /// Each job of a list was admitted or not, in order.
    EnqueuedEach(Vec<Result<Admission, Refusal>>),
    /// The same request was answered before, like this.
    Remembered(Remembered),
    /// A job changed.
    Stepped(Box<Change>),
    /// Jobs that carried a key changed, newest first; at least one.
    SteppedHolders(Vec<Change>),
    /// A queue was paused or resumed.
    Queue(QueueFacts),
}

/// A stored job that changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It went on.
    To {
        /// Where it was.
        before: State,
        /// What it is.
        job: Job,
        /// Jobs that waited for its end and were let go with it, in the order of their creation.
        successors: Vec<Job>,
    },
    /// It was removed.
    Removed {
        /// What it was.
        job: Job,
    },
}

impl Change {
    /// The job as it is, or was last.
    pub fn job(&self) -> &Job {
        match self {
            Change::To { job, .. } | Change::Removed { job } => job,
        }
    }
}
