//! Whether a job may start now.

use super::{Limits, Memory};
use crate::Timestamp;

/// Which limit is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// So many run already.
    Concurrency,
    /// So many started already.
    Rate,
    /// The last one started a moment ago.
    Throttle,
    /// A worker said that there is no use in trying before a moment.
    Feedback,
}

impl Strategy {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Concurrency => "concurrency",
            Strategy::Rate => "rate",
            Strategy::Throttle => "throttle",
            Strategy::Feedback => "rate_limit_until",
        }
    }
}

/// Why a job may not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// What is in the way.
    pub strategy: Strategy,
    /// How many would be allowed.
    pub limit: u64,
    /// How many there are.
    pub current: u64,
    /// When it is worth looking again, if time alone can change it.
    pub until: Option<Timestamp>,
}

impl Memory {
    /// Whether a job with these limits may start while so many run.
    pub fn admits(&self, own: Limits, active: u64, now: Timestamp) -> Result<(), Closed> {
        let limits = self.in_force(own, now);
        let mut first: Option<Closed> = None;
        let mut in_the_way = |strategy, limit: u32, current, until: Option<Timestamp>| {
            let limit = u64::from(limit);
            first = Some(match first {
                None => Closed { strategy, limit, current, until },
                // All of them have to be out of the way.
                Some(first) => Closed { until: first.until.zip(until).map(|(a, b)| a.max(b)), ..first },
            });
        };
        if let Some(until) = self.closed_until.filter(|until| *until > now) {
            in_the_way(Strategy::Feedback, 0, 0, Some(until));
        }
        if let Some(limit) = limits.concurrency.filter(|limit| active >= u64::from(*limit)) {
            in_the_way(Strategy::Concurrency, limit, active, None);
        }
        if let Some(pace) = limits.rate {
            let current = self.starts.in_window(pace.period(), now);
            if current >= u64::from(pace.limit()) {
                in_the_way(Strategy::Rate, pace.limit(), current, self.starts.room_at(pace, now));
            }
        }
        if let Some(pace) = limits.throttle {
            let until = self.starts.apart_until(pace, now).filter(|until| *until > now);
            if until.is_some() {
                in_the_way(Strategy::Throttle, pace.limit(), 1, until);
            }
        }
        match first {
            None => Ok(()),
            Some(closed) => Err(Closed { until: self.worth_a_look(closed.until, now), ..closed }),
        }
    }

    /// What an operator decided for a while may be in the way for that while only.
    fn worth_a_look(&self, until: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        let end = self.ruling.as_ref().filter(|ruling| ruling.is_in_force(now)).and_then(|r| r.expires_at);
        until.into_iter().chain(end).min()
    }
}
