//! The one decision about an incoming unique job.

use super::{Debounce, FieldSet, Holder, Rule, Strategy, UniquePolicy, Uniqueness, job_key};
use crate::{Job, JobId, Phase, State, Timestamp};

/// What becomes of an incoming job, and what said so.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What becomes of it.
    pub resolution: Resolution,
    /// What decided; nothing if no holder counts.
    pub rule: Option<Rule>,
}

/// What becomes of an incoming job.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution {
    /// No holder stands against it.
    Create,
    /// It takes the place of these holders, newest first.
    Replace(Vec<JobId>),
    /// The holder is the answer, untouched.
    Existing(JobId),
    /// The holder takes over what it says.
    Update {
        /// Which holder.
        holder: JobId,
        /// What it takes over.
        takeover: Takeover,
    },
    /// It is refused because of this holder.
    Reject(JobId),
    /// It is created, and waits until this holder has ended.
    Queue(JobId),
    /// It is created, and this running holder gives up its key and its retries.
    Supersede(JobId),
}

/// What a holder takes over from a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// These fields.
    Fields(FieldSet),
    /// Everything but the start time.
    AllButSchedule,
    /// Everything, and its start moves away. Arrays of both are joined.
    Debounce(Debounce),
    /// Everything.
    Latest,
    /// Everything, as if it were new; its own start time only if it is to keep it. Arrays of both are joined.
    Renew {
        /// Whether it keeps its place in time.
        keeps_start: bool,
    },
}

/// What becomes of an incoming job whose key these jobs hold. Holders that do not count may be among them; what the
/// incoming job says decides, never what the holder said.
pub fn resolve(uniqueness: &Uniqueness, holders: &[Job], now: Timestamp) -> Decision {
    let watch = uniqueness.watch();
    let mut covered: Vec<&Job> = holders.iter().filter(|job| watch.covers(Holder::from(*job), now)).collect();
    covered.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    let Some(newest) = covered.first() else {
        return Decision { resolution: Resolution::Create, rule: None };
    };
    if let Some(resolution) = queue_latest(uniqueness, &covered) {
        return Decision { resolution, rule: Some(Rule::QueueLatest) };
    }
    let resolution = match uniqueness {
        Uniqueness::JobKey(job_key) => job_key::resolve(job_key.mode, newest),
        Uniqueness::Policy(policy) => by_policy(policy, newest, &covered),
    };
    Decision { resolution, rule: Some(uniqueness.rule()) }
}

fn by_policy(policy: &UniquePolicy, newest: &Job, covered: &[&Job]) -> Resolution {
    if let Some(debounce) = policy.debounce {
        return debounced(debounce, covered);
    }
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
        Strategy::Replace => replace(covered),
        Strategy::ReplaceExceptSchedule => replace_except_schedule(covered),
    }
}

/// One runs, one waits: a successor takes over the newest duplicate; without one, the duplicate becomes it. Nothing if
/// no holder runs and no successor waits, or if the policy does not want it so.
fn queue_latest(uniqueness: &Uniqueness, covered: &[&Job]) -> Option<Resolution> {
    let policy = uniqueness.policy().filter(|policy| policy.while_active.is_some())?;
    let takeover = policy.debounce.map_or(Takeover::Latest, Takeover::Debounce);
    if let Some(successor) = covered.iter().find(|job| job.waits_for().is_some()) {
        return Some(Resolution::Update { holder: successor.id, takeover });
    }
    let running = covered.iter().find(|job| may_run(job))?;
    Some(Resolution::Queue(running.id))
}

/// A worker that lost its lease may still be at it, and complete the job late.
fn may_run(job: &Job) -> bool {
    matches!(job.phase, Phase::Active { .. } | Phase::Available { lapsed: Some(_) })
}

/// What runs has its arguments already: another job has to bring the new ones.
fn debounced(debounce: Debounce, covered: &[&Job]) -> Resolution {
    match waiting(covered).next() {
        Some(job) => Resolution::Update { holder: job.id, takeover: Takeover::Debounce(debounce) },
        None => Resolution::Create,
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

fn waiting<'j>(covered: &[&'j Job]) -> impl Iterator<Item = &'j Job> {
    covered.iter().copied().filter(|job| job.state().is_waiting())
}

#[cfg(test)]
mod tests;
