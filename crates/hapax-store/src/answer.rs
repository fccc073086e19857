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
    /// All jobs of a batch were admitted or answered by holders, in order. Beyond [`ANSWER_BYTES_MAX`] they are abridged.
    EnqueuedAll(Vec<Admission>),
    /// Each job of a list was admitted or not, in order. Beyond [`ANSWER_BYTES_MAX`] they are abridged.
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

/// How many bytes of arguments, metadata and extensions the answer about many jobs carries. A small request may name
/// the same large job ten thousand times, and its answer has to fit into memory.
pub const ANSWER_BYTES_MAX: usize = 32 << 20;

/// How far an answer about many jobs has grown: what every engine counts in the same way.
#[derive(Debug, Default)]
pub struct Growth(usize);

impl Growth {
    /// Counts one more, without its texts if they are too much.
    #[must_use]
    pub fn with(&mut self, mut admission: Admission) -> Admission {
        let bytes = self.0.saturating_add(admission.text_bytes());
        if bytes > ANSWER_BYTES_MAX {
            admission.abridge();
        } else {
            self.0 = bytes;
        }
        admission
    }
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
