//! One step of a stored job's life: the decision, and what a returning job finds beside it.

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
    let states = after.spec.unique.as_ref()?.states;
    after.key.as_ref().filter(|_| states.contains(after.state()) && !states.contains(before))
}

/// Records the newest other holder that the job's own policy covers.
pub fn record_reentry(job: &mut Job, holders: &[Job], now: Timestamp) {
    let Some(policy) = &job.spec.unique else { return };
    let beside =
        holders.iter().filter(|other| other.id != job.id && policy.covers(Holder::from(*other), now));
    if let Some(other) = beside.max_by_key(|other| (other.created_at, other.id)) {
        job.reentered_beside = Some(other.id);
    }
}
