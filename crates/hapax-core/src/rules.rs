//! What the operator decides: the settings that the rules of a job's life depend on.

use std::time::Duration;

use crate::State;

/// The operator's settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// How long a lease lasts when neither the fetch nor the job says.
    pub visibility_timeout: Duration,
    /// How long finished jobs are kept.
    pub retention: Retention,
    /// How many bytes the arguments of a job may grow to by taking over those of duplicates.
    pub joined_bytes_max: usize,
}

/// How long finished jobs are kept before they are removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// Completed jobs.
    pub completed: Duration,
    /// Cancelled jobs.
    pub cancelled: Duration,
    /// Discarded jobs, dead letters among them.
    pub discarded: Duration,
}

const DAY: Duration = Duration::from_hours(24);

impl Default for Rules {
    fn default() -> Self {
        Rules {
            visibility_timeout: Duration::from_mins(30),
            retention: Retention::default(),
            joined_bytes_max: 1 << 20,
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Retention { completed: DAY * 7, cancelled: DAY * 7, discarded: DAY * 30 }
    }
}

impl Retention {
    /// The shortest of them.
    pub fn shortest(&self) -> Duration {
        self.completed.min(self.cancelled).min(self.discarded)
    }

    /// How long a job is kept after it ended in this state; nothing for a job that has not ended.
    pub fn of(&self, state: State) -> Option<Duration> {
        match state {
            State::Completed => Some(self.completed),
            State::Cancelled => Some(self.cancelled),
            State::Discarded => Some(self.discarded),
            State::Scheduled | State::Available | State::Pending | State::Active | State::Retryable => None,
        }
    }
}
