//! Why an incoming job would be a duplicate, and of what, and until when.

use super::{Decision, Holder, Resolution, Watch, resolve};
use crate::{Admission, Incoming, Job, JobId, Refusal, Rules, StateSet, Timestamp, next_due};

/// What would happen to a job, and why. Nothing of it has happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What the rules say to the holders.
    pub resolution: Resolution,
    /// What the enqueue would do.
    pub admission: Result<Admission, Refusal>,
    /// The jobs that carry its key, newest first.
    pub holders: Vec<Seen>,
    /// What has to happen before the key is free to it: all of this. Nothing if it is free now.
    pub freed_by: Vec<Freeing>,
}

/// A job that carries the key.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The job.
    pub job: Job,
    /// What it is to the incoming one.
    pub standing: Standing,
}

/// What a job with an equal key is to an incoming one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It makes the incoming job a duplicate.
    Counts,
    /// It is in a state that the incoming job does not ask about.
    OtherState,
    /// The period after its moment is over.
    WindowOver {
        /// Since when.
        since: Timestamp,
    },
}

/// How one holder stops to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeing {
    /// The holder.
    pub job: JobId,
    /// When it stops by itself, if nothing happens to it before.
    pub at: Option<Timestamp>,
    /// The states that end it at once.
    pub states: StateSet,
}

/// What would become of the job. `holders` are all that its own watch covers, and any others of its key.
pub fn explain(incoming: Incoming, mut holders: Vec<Job>, now: Timestamp, rules: &Rules) -> Explanation {
    holders.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
    let decided = incoming.spec.unique.as_ref().map(|uniqueness| {
        let Decision { resolution, rule: _ } = resolve(uniqueness, &holders, now);
        (uniqueness.watch(), resolution)
    });
    let admission = incoming.admit(holders.clone(), now, rules);
    let Some((watch, resolution)) = decided else {
        let resolution = Resolution::Create;
        return Explanation { resolution, admission, holders: Vec::new(), freed_by: Vec::new() };
    };
    let freed_by = holders.iter().filter_map(|job| freeing(watch, job, now, rules)).collect();
    let seen = |job: Job| Seen { standing: standing(watch, &job, now), job };
    Explanation { resolution, admission, holders: holders.into_iter().map(seen).collect(), freed_by }
}

fn standing(watch: Watch, job: &Job, now: Timestamp) -> Standing {
    let holder = Holder::from(job);
    if !watch.states.contains(holder.state) {
        return Standing::OtherState;
    }
    match watch.window_end(holder).filter(|end| *end <= now) {
        Some(since) => Standing::WindowOver { since },
        None => Standing::Counts,
    }
}

/// How a holder that counts stops to count; nothing for one that does not count.
pub fn freeing(watch: Watch, job: &Job, now: Timestamp, rules: &Rules) -> Option<Freeing> {
    let holder = Holder::from(job);
    if !watch.covers(holder, now) {
        return None;
    }
    let has_ended = holder.state.is_terminal();
    let removal = next_due(job, rules).filter(|_| has_ended);
    let at = match (watch.window_end(holder), removal) {
        (Some(end), Some(removal)) => Some(end.min(removal)),
        (end, removal) => end.or(removal),
    };
    let states = if has_ended { StateSet::NONE } else { watch.states.complement() };
    Some(Freeing { job: job.id, at, states })
}

#[cfg(test)]
mod tests;
