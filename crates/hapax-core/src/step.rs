//! One step of a stored job's life: the decision, what a returning job finds beside it, and whom its end lets go.

use std::sync::Arc;
use std::time::Duration;

use crate::unique::{Holder, Key, Uniqueness};
use crate::{Job, JobId, KeptFor, Phase, State, Timestamp};

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
    let Some(watch) = job.spec.unique.as_ref().map(Uniqueness::watch) else { return };
    let beside = holders.iter().filter(|other| other.id != job.id && watch.covers(Holder::from(*other), now));
    if let Some(other) = beside.max_by_key(|other| (other.created_at, other.id)) {
        job.reentered_beside = Some(other.id);
    }
}

/// A change of a job that concerns those who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// It has ended, or is gone.
    Ended,
    /// It lives on without the key they wait for. Those who wait for its end still do.
    KeyGivenUp,
}

/// Whether a change concerns those who wait for the job. Stores ask this after every change of a job that others may wait
/// for, and let them go in the same commit.
pub fn parting(before: State, after: &Job) -> Option<Parting> {
    if after.state().is_terminal() && !before.is_terminal() {
        return Some(Parting::Ended);
    }
    (after.spec.unique.is_some() && after.key.is_none()).then_some(Parting::KeyGivenUp)
}

/// A job that waited for another, after the other parted. Nothing if it does not wait any more, or for something else.
pub fn let_go(successor: &Job, parting: Parting, now: Timestamp) -> Option<Job> {
    successor.waits_for()?;
    // Who stands in a line, or waits for the run before it, does so whatever keys that holds.
    if parting == Parting::KeyGivenUp && waits_for_end(successor) {
        return None;
    }
    let mut next = successor.clone();
    next.activated_at = Some(now);
    next.wait_for_start(now);
    Some(next)
}

/// Whether it waits for the end of the other, and not for its key.
fn waits_for_end(successor: &Job) -> bool {
    let policy = successor.spec.unique.as_ref().and_then(Uniqueness::policy);
    let waits_for_key = policy.is_some_and(|policy| policy.while_active.is_some());
    // What recurring jobs make says so in its metadata.
    let is_run = successor.spec.meta.as_str().contains("\"cron_name\"");
    successor.spec.ordering_key.is_some() || (is_run && !waits_for_key)
}

/// An ended job whose time is over and which is kept on, as long again as it was kept already: so it is looked at a few
/// times and not all the time, however long that goes on.
pub fn kept_on(job: &Job, now: Timestamp) -> Option<Job> {
    let kept = (now.since(job.phase.finished_at()?) * 2).max(Duration::from_secs(1));
    let mut spec = (*job.spec).clone();
    let KeptFor { completed, cancelled, discarded } = &mut spec.kept_for;
    for span in [completed, cancelled, discarded] {
        *span = Some(kept);
    }
    Some(Job { spec: Arc::new(spec), ..job.clone() })
}

/// A job that waited for one which left the line before its turn: it waits for whom the other waited for.
pub fn hand_on(successor: &Job, to: JobId) -> Option<Job> {
    successor.waits_for()?;
    let mut next = successor.clone();
    next.phase = Phase::Pending { after: Some(to) };
    Some(next)
}
