//! What callers ask of the lanes, and the way back to them.

use hapax_core::{Event, Incoming};
use hapax_store::{Action, Answer, Claim, Claimed, Op, StoreError, limit};
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
    pub(crate) caller: Caller<Claimed>,
}

/// Whether an operation brings jobs that have to know more than who holds their keys: to a queue that takes only so many, or
/// to the end of a line.
pub(crate) fn is_entangled(op: &Op) -> bool {
    let is_entangled = |incoming: &Incoming| incoming.bound.is_some() || incoming.spec.ordering_key.is_some();
    match &op.action {
        Action::Enqueue { incoming, .. } => is_entangled(incoming),
        Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => {
            incoming.iter().any(is_entangled)
        }
        Action::Step { .. }
        | Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::RunCron { .. }
        | Action::StartWorkflow { .. }
        | Action::CancelWorkflow(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::RemoveQueue(_) => false,
    }
}

/// Whether an operation may close a rate limit, about which more has to be known.
pub(crate) fn closes_a_limit(op: &Op) -> bool {
    matches!(&op.action, Action::Step { event, .. } if limit::closes_until(event).is_some())
}

/// Whether operations can share a transaction: none of them takes a job away or brings back one that has ended, so that
/// no later one could ask for rows that were not fetched.
pub(crate) fn are_simple(ops: &[Op]) -> bool {
    ops.iter().all(|op| match &op.action {
        Action::Enqueue { .. } | Action::EnqueueAll { .. } | Action::EnqueueEach { .. } => true,
        Action::Step { event, .. } => match event.bare() {
            Event::Acknowledge { .. }
            | Event::Fail { .. }
            | Event::Heartbeat { .. }
            | Event::Progress { .. }
            | Event::SaveCheckpoint { .. }
            | Event::DropCheckpoint
            | Event::Cancel
            | Event::Activate
            | Event::LoseQueue
            | Event::MoveTo { .. }
            | Event::Reprioritize { .. }
            | Event::Abandon { .. } => true,
            Event::Claim { .. }
            | Event::Agent(_)
            | Event::Revive { .. }
            | Event::Forget
            | Event::Retry
            | Event::Delete
            | Event::OnlyIf { .. }
            | Event::Release { .. }
            | Event::RemoveByKey
            | Event::LetGo { .. }
            | Event::Withdraw
            | Event::Displace
            | Event::Postpone { .. }
            | Event::Drop
            | Event::TimePassed { .. } => false,
        },
        Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::RunCron { .. }
        | Action::StartWorkflow { .. }
        | Action::CancelWorkflow(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::RemoveQueue(_) => false,
    })
}
