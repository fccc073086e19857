//! Operations: what a store is asked to do.

use hapax_core::unique::Key;
use hapax_core::workflow::WorkflowId;
use hapax_core::{Event, Incoming, JobId, QueueName, StateSet, Timestamp};

use crate::{Edit, EntryKey, JointEdit, Memo, NewWorkflow};

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
    /// Changes an entry.
    Edit {
        /// Which.
        key: EntryKey,
        /// How.
        edit: Edit,
    },
    /// Changes several entries, all of them or, if it is refused, none.
    EditTogether {
        /// Which; each once.
        keys: Vec<EntryKey>,
        /// How.
        edit: JointEdit,
    },
    /// Starts a workflow: stores all of its jobs or, if one is refused, none.
    StartWorkflow {
        /// The workflow.
        workflow: Box<NewWorkflow>,
        /// Under which idempotency key to remember the answer.
        memo: Option<Memo>,
    },
    /// Calls a workflow off.
    CancelWorkflow(WorkflowId),
    /// Lets a recurring job make a job now.
    RunCron {
        /// Its entry.
        key: EntryKey,
        /// The id of the job.
        id: JobId,
        /// Under which idempotency key to remember the answer.
        memo: Option<Memo>,
    },
    /// Lets a queue give out no jobs. Makes the queue if it was never used.
    Pause(QueueName),
    /// Lets a queue give out jobs again. Makes the queue if it was never used.
    Resume(QueueName),
    /// Forgets what is known of a queue: that it is paused, and that it was ever used, unless there are jobs of it that have
    /// ended and are kept. Refused while it has others.
    RemoveQueue(QueueName),
}
