//! What callers ask of the lanes, and the way back to them.

use hapax_core::Event;
use hapax_store::{Action, Answer, Change, Claim, Op, StoreError};
use tokio::sync::oneshot;

/// Who waits for an answer.
pub(crate) type Caller<T> = oneshot::Sender<Result<T, StoreError>>;

/// Operations to carry out.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) ops: Vec<Op>,
    pub(crate) caller: Caller<Vec<Answer>>,
}

/// A worker's wish.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub(crate) claim: Claim,
    pub(crate) caller: Caller<Vec<Change>>,
}

/// Whether operations can share a transaction: none of them takes a job away or brings back one that has ended, so that
/// no later one could ask for rows that were not fetched.
pub(crate) fn are_simple(ops: &[Op]) -> bool {
    ops.iter().all(|op| match &op.action {
        Action::Enqueue { .. } | Action::EnqueueAll { .. } | Action::EnqueueEach { .. } => true,
        Action::Step { event, .. } => match event {
            Event::Acknowledge { .. }
            | Event::Fail { .. }
            | Event::Heartbeat { .. }
            | Event::Cancel
            | Event::Activate => true,
            Event::Claim { .. }
            | Event::Revive { .. }
            | Event::Forget
            | Event::Release { .. }
            | Event::RemoveByKey
            | Event::TimePassed { .. } => false,
        },
        Action::StepHolders { .. } | Action::Pause(_) | Action::Resume(_) => false,
    })
}
