//! What a client or an operator asks for.

use std::time::Duration;

use super::{LimitKey, Share};
use crate::QueueName;

/// Most jobs that a limit lets run at a time.
pub const CONCURRENCY_MAX: u32 = 1_000_000;

/// The limit of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// What it shares with others.
    pub key: LimitKey,
    /// How much it allows. Nothing at all leaves the decision to the operator.
    pub limits: Limits,
    /// What happens while there is no room.
    pub on_limit: OnLimit,
    /// How it shares its queue with jobs of other keys.
    pub share: Share,
}

impl RateLimit {
    /// The same for a job that goes to another queue.
    pub(crate) fn moved_to(&self, queue: &QueueName) -> RateLimit {
        RateLimit { key: self.key.moved_to(queue), ..self.clone() }
    }
}

/// How much is allowed. Each figure may be left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// So many run at a time.
    pub concurrency: Option<u32>,
    /// So many start in any window.
    pub rate: Option<Pace>,
    /// Starts keep a distance.
    pub throttle: Option<Pace>,
}

impl Limits {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// These figures, and where they are open those.
    #[must_use]
    pub fn or(self, others: Limits) -> Limits {
        Limits {
            concurrency: self.concurrency.or(others.concurrency),
            rate: self.rate.or(others.rate),
            throttle: self.throttle.or(others.throttle),
        }
    }

    /// Whether starts have to be remembered for them.
    pub fn count_starts(&self) -> bool {
        self.rate.is_some() || self.throttle.is_some()
    }
}

/// So many starts in so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    limit: u32,
    period: Duration,
}

/// For what a pace is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// So many within the period, however they lie.
    Sliding,
    /// Evenly spread over it.
    Spaced,
}

/// A pace that cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaceError {
    /// No number of starts.
    #[error("limit must be from 1 to {max}, not {0}", max = Pace::LIMIT_MAX)]
    Limit(i64),
    /// No span.
    #[error("period must be from one millisecond to {days} days", days = Pace::PERIOD_MAX.as_secs() / 86_400)]
    Period,
    /// Times are told in milliseconds.
    #[error("starts cannot be spaced by less than a millisecond; use rate, or a smaller limit")]
    TooFine,
}

impl Pace {
    /// Most starts in a period.
    pub const LIMIT_MAX: u32 = 1_000_000;
    /// Longest period.
    pub const PERIOD_MAX: Duration = Duration::from_hours(24 * 366);

    /// So many in that time.
    pub fn new(limit: i64, period: Duration, window: Window) -> Result<Pace, PaceError> {
        let number = u32::try_from(limit).ok().filter(|limit| (1..=Pace::LIMIT_MAX).contains(limit));
        let limit = number.ok_or(PaceError::Limit(limit))?;
        if period < Duration::from_millis(1) || period > Pace::PERIOD_MAX {
            return Err(PaceError::Period);
        }
        if window == Window::Spaced && period / limit < Duration::from_millis(1) {
            return Err(PaceError::TooFine);
        }
        Ok(Pace { limit, period })
    }

    /// How many.
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// In how long.
    pub const fn period(self) -> Duration {
        self.period
    }

    /// The distance between two starts, in whole milliseconds, rather too long than too short.
    pub(super) fn gap(self) -> Duration {
        let nanos = self.period.as_nanos().div_ceil(u128::from(self.limit));
        Duration::from_millis(u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// What happens to a job while there is no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLimit {
    /// It stays where it is.
    Wait,
    /// It comes back when there may be room.
    Reschedule,
    /// It is given up.
    Drop,
}

impl OnLimit {
    /// All of them.
    pub const ALL: [OnLimit; 3] = [OnLimit::Wait, OnLimit::Reschedule, OnLimit::Drop];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            OnLimit::Wait => "wait",
            OnLimit::Reschedule => "reschedule",
            OnLimit::Drop => "drop",
        }
    }
}
