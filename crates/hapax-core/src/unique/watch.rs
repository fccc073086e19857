//! Which holders of a key count: the states and the window that an incoming job asks about.

use std::time::Duration;

use crate::{Job, State, StateSet, Timestamp};

/// The holders that make an incoming job a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watch {
    /// The states in which a holder counts.
    pub states: StateSet,
    /// How long a holder counts; for ever if not given.
    pub period: Option<Duration>,
    /// From which of the holder's moments the period runs.
    pub period_from: Anchor,
    /// Whether a decision depends on every live one of them, and not just on the newest in each state. Of those that have
    /// ended the newest is enough in any case.
    pub every_live: bool,
}

/// The moment of the holder from which a period runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// When it was accepted.
    CreatedAt,
    /// When it was to start; when it was accepted, if it was never scheduled.
    ScheduledAt,
    /// When it ended; as long as it has not, the period has not begun.
    FinishedAt,
}

impl Anchor {
    /// Every anchor.
    pub const ALL: [Anchor; 3] = [Anchor::CreatedAt, Anchor::ScheduledAt, Anchor::FinishedAt];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Anchor::CreatedAt => "created_at",
            Anchor::ScheduledAt => "scheduled_at",
            Anchor::FinishedAt => "finished_at",
        }
    }
}

/// What a policy needs to know of a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Where it is.
    pub state: State,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was to start.
    pub scheduled_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl From<&Job> for Holder {
    fn from(job: &Job) -> Holder {
        Holder {
            state: job.state(),
            created_at: job.created_at,
            scheduled_at: job.spec.scheduled_at.as_ref().map(|given| given.at),
            finished_at: job.phase.finished_at(),
        }
    }
}

impl Watch {
    /// Whether a holder with an equal key makes the incoming job a duplicate.
    pub fn covers(&self, holder: Holder, now: Timestamp) -> bool {
        self.states.contains(holder.state) && self.window_end(holder).is_none_or(|end| end > now)
    }

    /// When the holder stops to count; never if nothing is returned.
    pub fn window_end(&self, holder: Holder) -> Option<Timestamp> {
        let period = self.period?;
        let from = match self.period_from {
            Anchor::CreatedAt => holder.created_at,
            Anchor::ScheduledAt => holder.scheduled_at.unwrap_or(holder.created_at),
            Anchor::FinishedAt => holder.finished_at?,
        };
        Some(from + period)
    }
}

#[cfg(test)]
mod tests;
