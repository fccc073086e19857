//! One step of a stored job's life: the decision, what a returning job finds beside it, and whom its end lets go.

use crate::unique::{Holder, Key};
use crate::{Job, State, Timestamp};

/// What becomes of a job.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "almost every transition is the large one")]
pub enum Transition {
    /// It goes on like this.
    To(Job),
    /// It is gone.
    Removed,
}

/// The key whose holders a job has to be shown after a change, if it came back to a state in which its own
/// policy wanted it alone. Coming back is never refused (Unique Jobs 9.2), only recorded.
pub fn reentry_key(before: State, after: &Job) -> Option<&Key> {
    let states = after.spec.unique.as_ref()?.watch().states;
    after.key.as_ref().filter(|_| states.contains(after.state()) && !states.contains(before))
}

/// Records the newest other holder that the job's own policy covers.
pub fn record_reentry(job: &mut Job, holders: &[Job], now: Timestamp) {
    let Some(watch) = job.spec.unique.as_ref().map(crate::unique::Uniqueness::watch) else { return };
    let beside = holders.iter().filter(|other| other.id != job.id && watch.covers(Holder::from(*other), now));
    if let Some(other) = beside.max_by_key(|other| (other.created_at, other.id)) {
        job.reentered_beside = Some(other.id);
    }
}

/// Whether a change lets those go that wait for the job: it has ended, or gave up the key they wait for. Stores ask
/// this after every change of a job that others may wait for, and let them go in the same commit.
pub fn lets_successors_go(before: State, after: &Job) -> bool {
    let has_ended = after.state().is_terminal() && !before.is_terminal();
    has_ended || (after.spec.unique.is_some() && after.key.is_none())
}

/// A job that waited for another, after the other's end. Nothing if it does not wait any more.
pub fn let_go(successor: &Job, now: Timestamp) -> Option<Job> {
    successor.waits_for()?;
    let mut next = successor.clone();
    next.activated_at = Some(now);
    next.wait_for_start(now);
    Some(next)
}
