//! The one decision about an incoming unique job.

use super::{FieldSet, Holder, Strategy, UniquePolicy};
use crate::{Job, JobId, State, Timestamp};

/// What becomes of an incoming job.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// No holder stands against it.
    Create,
    /// It takes the place of these holders, newest first.
    Replace(Vec<JobId>),
    /// The holder is the answer, untouched.
    Existing(JobId),
    /// The holder takes over these fields of it.
    Update {
        /// Which holder.
        holder: JobId,
        /// What it takes over.
        takeover: Takeover,
    },
    /// It is refused because of this holder.
    Reject(JobId),
}

/// What a holder takes over from a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// These fields.
    Fields(FieldSet),
    /// Everything but the start time.
    AllButSchedule,
}

/// What becomes of an incoming job whose key these jobs hold. Holders that the policy does not cover may
/// be among them; the incoming job's policy decides, never the holder's.
pub fn resolve(policy: &UniquePolicy, holders: &[Job], now: Timestamp) -> Resolution {
    let mut covered: Vec<&Job> =
        holders.iter().filter(|job| policy.covers(Holder::from(*job), now)).collect();
    covered.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    let Some(newest) = covered.first() else { return Resolution::Create };
    if let Some(replacement) = &policy.replace {
        let fields = replacement.fields(newest.state());
        return if fields.is_empty() {
            Resolution::Existing(newest.id)
        } else {
            Resolution::Update { holder: newest.id, takeover: Takeover::Fields(fields) }
        };
    }
    match policy.on_conflict {
        Strategy::Reject => Resolution::Reject(newest.id),
        Strategy::Ignore => Resolution::Existing(newest.id),
        Strategy::Replace => replace(&covered),
        Strategy::ReplaceExceptSchedule => replace_except_schedule(&covered),
    }
}

/// Finished holders stay as they are: only what waits or runs is called off.
fn replace(covered: &[&Job]) -> Resolution {
    let alive: Vec<JobId> = alive(covered).map(|job| job.id).collect();
    if alive.is_empty() { Resolution::Create } else { Resolution::Replace(alive) }
}

fn replace_except_schedule(covered: &[&Job]) -> Resolution {
    match alive(covered).next() {
        Some(newest) if newest.state() == State::Scheduled => {
            Resolution::Update { holder: newest.id, takeover: Takeover::AllButSchedule }
        }
        _ => replace(covered),
    }
}

fn alive<'j>(covered: &[&'j Job]) -> impl Iterator<Item = &'j Job> {
    covered.iter().copied().filter(|job| !job.state().is_terminal())
}

#[cfg(test)]
mod tests;
