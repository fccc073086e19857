//! What is known of a key beside its jobs.

use std::time::Duration;

use super::{Limits, Starts};
use crate::Timestamp;

/// For how long a worker can close a key.
pub const CLOSED_MAX: Duration = Duration::from_hours(24);

/// What a store keeps about a key: not how many jobs run, for that is seen from the jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// What started lately.
    pub starts: Starts,
    /// Until when a worker closed it.
    pub closed_until: Option<Timestamp>,
    /// What an operator decided.
    pub ruling: Option<Ruling>,
}

/// What an operator decided about a key; it takes the place of what jobs say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// The figures.
    pub limits: Limits,
    /// Until when they hold.
    pub expires_at: Option<Timestamp>,
}

impl Ruling {
    pub(super) fn is_in_force(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| at > now)
    }
}

impl Memory {
    /// The figures that count for a job with these.
    pub fn in_force(&self, own: Limits, now: Timestamp) -> Limits {
        match self.ruling.filter(|ruling| ruling.is_in_force(now)) {
            Some(ruling) => ruling.limits.or(own),
            None => own,
        }
    }

    /// A job with these limits starts.
    pub fn started(&mut self, own: Limits, now: Timestamp) {
        let limits = self.in_force(own, now);
        self.forget(now);
        self.starts.note(&limits, now);
    }

    /// A worker says that nothing shall start before that moment.
    pub fn close(&mut self, until: Timestamp, now: Timestamp) {
        let until = until.min(now + CLOSED_MAX);
        self.closed_until = self.closed_until.max(Some(until).filter(|until| *until > now));
    }

    /// Forgets what means nothing any more.
    pub fn forget(&mut self, now: Timestamp) {
        self.starts.forget(now);
        self.closed_until = self.closed_until.filter(|until| *until > now);
        self.ruling = self.ruling.filter(|ruling| ruling.is_in_force(now));
    }

    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Memory::default()
    }

    /// When it changes by itself.
    pub fn next_due(&self) -> Option<Timestamp> {
        let expires_at = self.ruling.and_then(|ruling| ruling.expires_at);
        let end = self.starts.end().filter(|_| self.ruling.is_none());
        self.closed_until.into_iter().chain(expires_at).chain(end).min()
    }
}
