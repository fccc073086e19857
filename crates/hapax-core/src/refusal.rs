//! What the rules do not allow. Not an error of the machine: those have other types.

use crate::unique::{Key, KeyError};
use crate::webhook::DeliveryId;
use crate::workflow::{WorkflowId, WorkflowState};
use crate::{Admission, JobId, JobType, QueueName, State, StateSet};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such job.
    #[error("no job has the id {0}")]
    NotFound(JobId),
    /// The job is there, and is no dead letter.
    #[error("job {id} is no dead letter: it is {state}")]
    NoDeadLetter {
        /// The job.
        id: JobId,
        /// Where it is. A discarded job is a dead letter only if it was to become one.
        state: State,
    },
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
    /// The job is not what was meant, or not any longer.
    #[error("job {0} is not among those that were meant, or not any longer")]
    NotMeant(JobId),
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
    /// One step of a workflow was refused, and so the whole workflow.
    #[error("step {index} of the workflow: {refusal}")]
    InWorkflow {
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
    #[error("it is a duplicate of job {of} of the same request")]
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
    /// So many jobs wait in the queue that it takes no more.
    #[error("{} in queue {queue}, which takes {max}", counted(*depth, "job waits", "jobs wait"))]
    QueueFull {
        /// The queue.
        queue: QueueName,
        /// How many wait.
        depth: u64,
        /// How many may.
        max: u64,
    },
    /// The queue takes no jobs.
    #[error("queue {0} is being emptied and takes no jobs")]
    QueueDraining(QueueName),
    /// A queue with jobs that have not ended is not deleted without a word about them.
    #[error("queue {queue} has {}", counted(*jobs, "job that has not ended", "jobs that have not ended"))]
    QueueInUse {
        /// The queue.
        queue: QueueName,
        /// How many.
        jobs: u64,
    },
    /// The queue does not take jobs of this type.
    #[error("queue {queue} does not take jobs of the type {kind}")]
    TypeNotAllowed {
        /// The queue.
        queue: QueueName,
        /// The type.
        kind: JobType,
    },
    /// There is no such thing.
    #[error("there is no {register} with the name \"{name}\"")]
    NoEntry {
        /// What kind of thing.
        register: &'static str,
        /// Its name.
        name: Box<str>,
    },
    /// There is such a thing already.
    #[error("there is a {register} with the name \"{name}\" already")]
    EntryTaken {
        /// What kind of thing.
        register: &'static str,
        /// Its name.
        name: Box<str>,
    },
    /// There are as many such things as there may be.
    #[error("there are {max} {register}s already, which is the most")]
    RegisterFull {
        /// What kind of thing.
        register: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// A delivery that has arrived is not sent again.
    #[error("delivery {0} has arrived; only one that waits or was given up can be sent again")]
    DeliveryArrived(DeliveryId),
    /// A workflow that has ended cannot be called off.
    #[error("workflow {id} is {}; it would have to be running", .state.name())]
    WorkflowEnded {
        /// The workflow.
        id: WorkflowId,
        /// How it ended.
        state: WorkflowState,
    },
    /// Only its workflow lets a step go.
    #[error("job {id} waits for other steps of workflow {workflow}, which lets it go when it is its turn")]
    StepWaits {
        /// The job.
        id: JobId,
        /// The workflow.
        workflow: WorkflowId,
    },
    /// Another of the same line comes before it.
    #[error("job {id} waits for job {after}, which has the same ordering key and comes before it")]
    NotItsTurn {
        /// The job.
        id: JobId,
        /// The one for which it waits.
        after: JobId,
    },
    /// Only an agent that was paused can be resumed.
    #[error("job {id} is {state} and is not a paused agent")]
    NotPaused {
        /// The job.
        id: JobId,
        /// Where it is.
        state: State,
    },
    /// Only branches of one agent can be merged.
    #[error("job {id} is no branch of job {of}")]
    NoBranch {
        /// The job.
        id: JobId,
        /// The agent whose branch it would have to be.
        of: JobId,
    },
    /// What is known of an agent is too large.
    #[error("what job {id} says of its agent would grow to {bytes} bytes; the limit is {max}")]
    AgentFull {
        /// The job.
        id: JobId,
        /// How large it would be.
        bytes: usize,
        /// How large it may be.
        max: usize,
    },
    /// A job cannot change its line while it stands in it.
    #[error("job {id} cannot take over another queue or ordering key before it has ended")]
    OtherOrder {
        /// The job.
        id: JobId,
    },
    /// Nothing was due.
    #[error("nothing is due for job {0}")]
    NotDue(JobId),
}

/// A number of things, and what is to be said of one or of many.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

impl Refusal {
    /// Whether the same request may be accepted a moment later, by nobody's doing but time's.
    pub fn is_passing(&self) -> bool {
        match self {
            Refusal::QueueFull { .. } | Refusal::QueueDraining(_) => true,
            Refusal::InBatch { refusal, .. } | Refusal::InWorkflow { refusal, .. } => refusal.is_passing(),
            Refusal::NotFound(_)
            | Refusal::NoDeadLetter { .. }
            | Refusal::WrongState { .. }
            | Refusal::LeaseLost { .. }
            | Refusal::NotMeant(_)
            | Refusal::IdTaken { .. }
            | Refusal::Duplicate { .. }
            | Refusal::IdempotencyMismatch
            | Refusal::KeyImpossible { .. }
            | Refusal::Twin { .. }
            | Refusal::KeyNotHeld
            | Refusal::PayloadFull { .. }
            | Refusal::TooManyHolders { .. }
            | Refusal::QueueInUse { .. }
            | Refusal::TypeNotAllowed { .. }
            | Refusal::NoEntry { .. }
            | Refusal::EntryTaken { .. }
            | Refusal::RegisterFull { .. }
            | Refusal::DeliveryArrived(_)
            | Refusal::WorkflowEnded { .. }
            | Refusal::StepWaits { .. }
            | Refusal::NotItsTurn { .. }
            | Refusal::NotPaused { .. }
            | Refusal::NoBranch { .. }
            | Refusal::AgentFull { .. }
            | Refusal::OtherOrder { .. }
            | Refusal::NotDue(_) => false,
        }
    }

    /// The refusal of a whole batch because of one of its jobs. A job that was admitted earlier in the same
    /// batch is not stored, so nobody is told of it by its id.
    #[must_use]
    pub fn in_batch(self, index: usize, admitted: &[Admission]) -> Refusal {
        Refusal::InBatch { index, refusal: Box::new(self.beside(admitted)) }
    }

    /// The same for a workflow and one of its steps.
    #[must_use]
    pub fn in_workflow(self, index: usize, admitted: &[Admission]) -> Refusal {
        Refusal::InWorkflow { index, refusal: Box::new(self.beside(admitted)) }
    }

    fn beside(self, admitted: &[Admission]) -> Refusal {
        let named = match &self {
            Refusal::IdTaken { id, .. }
            | Refusal::Duplicate { existing: id, .. }
            | Refusal::OtherOrder { id } => Some(*id),
            Refusal::PayloadFull { id, .. } => *id,
            Refusal::NotFound(_)
            | Refusal::NoDeadLetter { .. }
            | Refusal::WrongState { .. }
            | Refusal::LeaseLost { .. }
            | Refusal::NotMeant(_)
            | Refusal::IdempotencyMismatch
            | Refusal::InBatch { .. }
            | Refusal::InWorkflow { .. }
            | Refusal::KeyImpossible { .. }
            | Refusal::Twin { .. }
            | Refusal::KeyNotHeld
            | Refusal::TooManyHolders { .. }
            | Refusal::QueueFull { .. }
            | Refusal::QueueDraining(_)
            | Refusal::QueueInUse { .. }
            | Refusal::TypeNotAllowed { .. }
            | Refusal::NoEntry { .. }
            | Refusal::EntryTaken { .. }
            | Refusal::RegisterFull { .. }
            | Refusal::DeliveryArrived(_)
            | Refusal::WorkflowEnded { .. }
            | Refusal::StepWaits { .. }
            | Refusal::NotItsTurn { .. }
            | Refusal::NotPaused { .. }
            | Refusal::NoBranch { .. }
            | Refusal::AgentFull { .. }
            | Refusal::NotDue(_) => None,
        };
        let is_named = |other: &Admission| other.verdict.is_new() && Some(other.job.id) == named;
        match (admitted.iter().position(is_named), self) {
            (Some(_), Refusal::PayloadFull { id: _, bytes, max }) => {
                Refusal::PayloadFull { id: None, bytes, max }
            }
            (Some(of), _) => Refusal::Twin { of },
            (None, other) => other,
        }
    }
}
