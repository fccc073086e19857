//! What a store answers to an operation.

use hapax_core::workflow::Workflow;
use hapax_core::{Admission, Job, QueueName, Refusal, Said, State};

use crate::{Entry, Followed, QueueFacts, Remembered, Started, Tick};

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
    /// An entry was changed.
    Edited {
        /// What it says by now; nothing if it is not there.
        entry: Option<Entry>,
        /// Whether it was there before.
        was_there: bool,
    },
    /// Several entries were changed. What each says by now, in the order in which they were named.
    EditedTogether(Vec<Option<Entry>>),
    /// A workflow started.
    WorkflowStarted(Box<Started>),
    /// A workflow was called off.
    WorkflowCancelled(Box<Followed>),
    /// A recurring job made a job, or did not.
    CronRan(Box<Tick>),
    /// A queue was paused or resumed.
    Queue(QueueFacts),
    /// A queue was removed.
    QueueRemoved(QueueName),
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
        /// What was said with it, for those who are told.
        said: Said,
        /// Jobs that changed with it, with the states they were in: those that waited for its end, and those that its
        /// workflow let go or called off by it.
        followers: Vec<(State, Job)>,
        /// Where its workflow stands, if its end changed that.
        workflow: Option<Box<Workflow>>,
    },
    /// It was removed.
    Removed {
        /// What it was.
        job: Job,
        /// Jobs that waited for it and go on, with the states they were in.
        followers: Vec<(State, Job)>,
    },
}

impl Change {
    /// The job as it is, or was last.
    pub fn job(&self) -> &Job {
        match self {
            Change::To { job, .. } | Change::Removed { job, .. } => job,
        }
    }
}
