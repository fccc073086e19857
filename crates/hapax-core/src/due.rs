//! When something happens to a job by itself.

use crate::unique::{Holder, Uniqueness};
use crate::{Job, Phase, Rules, State, Timestamp};

/// The next moment at which `TimePassed` changes the job; never, if nothing is returned. Stores keep one
/// timer per job at this moment and know no other rule about time.
pub fn next_due(job: &Job, rules: &Rules) -> Option<Timestamp> {
    match &job.phase {
        Phase::Scheduled { at } | Phase::Retryable { at } => earlier(Some(*at), too_late_at(job)),
        Phase::Available { .. } | Phase::Pending { .. } => too_late_at(job),
        Phase::Active { lease, times_out_at } => {
            earlier(earlier(Some(lease.deadline), *times_out_at), total_end(job))
        }
        Phase::Completed { at, .. } => removal(job, State::Completed, *at, rules),
        Phase::Cancelled { at, .. } => removal(job, State::Cancelled, *at, rules),
        Phase::Discarded { at, .. } => removal(job, State::Discarded, *at, rules),
    }
}

/// When it is too late to start the job.
pub(crate) fn expires_at(job: &Job) -> Option<Timestamp> {
    job.spec.expires_at.as_ref().map(|given| given.at)
}

/// When too much time has gone by since the job began.
pub(crate) fn total_end(job: &Job) -> Option<Timestamp> {
    let limit = job.spec.limits.total.filter(|_| !job.waits_for_workflow());
    limit.map(|span| job.limits_count_from() + span)
}

/// When too much time has gone by without a first start. An attempt that was handed back was none.
pub(crate) fn enqueue_end(job: &Job) -> Option<Timestamp> {
    let waits = matches!(job.state(), State::Scheduled | State::Available | State::Pending);
    // For a step time begins when its workflow lets it go.
    let waits = waits && !job.waits_for_workflow();
    let limit = job.spec.limits.enqueue.filter(|_| waits && job.attempt == 0);
    limit.map(|span| job.limits_count_from() + span)
}

/// When it is too late, for whatever reason, to start the job.
pub(crate) fn too_late_at(job: &Job) -> Option<Timestamp> {
    earlier(expires_at(job), earlier(enqueue_end(job), total_end(job)))
}

/// A finished job stays for its retention, and longer if its own policy still counts on it: a window of 30
/// days must not end after 7 because the job that protects it was tidied away.
fn removal(job: &Job, state: State, finished_at: Timestamp, rules: &Rules) -> Option<Timestamp> {
    let kept = rules.retention.of(state)?;
    let kept_until = finished_at + job.spec.kept_for.of(state).unwrap_or(kept);
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
