//! When something happens to a job by itself.

use crate::unique::{Holder, Uniqueness};
use crate::{Job, Phase, Rules, State, Timestamp};

/// The next moment at which `TimePassed` changes the job; never, if nothing is returned. Stores keep one
/// timer per job at this moment and know no other rule about time.
pub fn next_due(job: &Job, rules: &Rules) -> Option<Timestamp> {
    match &job.phase {
        Phase::Scheduled { at } | Phase::Retryable { at } => earlier(Some(*at), expires_at(job)),
        Phase::Available { .. } | Phase::Pending { .. } => expires_at(job),
        Phase::Active { lease, times_out_at } => earlier(Some(lease.deadline), *times_out_at),
        Phase::Completed { at, .. } => removal(job, State::Completed, *at, rules),
        Phase::Cancelled { at, .. } => removal(job, State::Cancelled, *at, rules),
        Phase::Discarded { at, .. } => removal(job, State::Discarded, *at, rules),
    }
}

/// When it is too late to start the job.
pub(crate) fn expires_at(job: &Job) -> Option<Timestamp> {
    job.spec.expires_at.as_ref().map(|given| given.at)
}

/// A finished job stays for its retention, and longer if its own policy still counts on it: a window of 30
/// days must not end after 7 because the job that protects it was tidied away.
fn removal(job: &Job, state: State, finished_at: Timestamp, rules: &Rules) -> Option<Timestamp> {
    let kept_until = finished_at + rules.retention.of(state)?;
    let watch = job.spec.unique.as_ref().map(Uniqueness::watch);
    let watch = watch.filter(|watch| job.key.is_some() && watch.states.contains(state));
    let counts_until = watch.and_then(|watch| watch.window_end(Holder::from(job)));
    Some(counts_until.map_or(kept_until, |end| end.max(kept_until)))
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
