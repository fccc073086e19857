//! What is known of a key beside its jobs.

use std::time::Duration;

use super::{Limits, Pace, Starts};
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
    /// How many may run at a time by the configuration of the queue whose key it is. It stays when a ruling expires.
    pub configured: Option<u32>,
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
        self.decided(now).map_or(own, |decided| decided.limits.or(own))
    }

    /// What was decided, by a ruling or by a configuration.
    pub fn decided(&self, now: Timestamp) -> Option<Ruling> {
        let lasting = Limits { concurrency: self.configured, ..Limits::default() };
        match self.ruling.filter(|ruling| ruling.is_in_force(now)) {
            Some(Ruling { limits, expires_at }) => Some(Ruling { limits: limits.or(lasting), expires_at }),
            None => self.configured.map(|_| Ruling { limits: lasting, expires_at: None }),
        }
    }

    /// An operator decides, in the place of what was decided before, or takes all of it back.
    pub fn rule(&mut self, ruling: Option<Ruling>) {
        self.configured = match ruling {
            None => None,
            Some(Ruling { expires_at: Some(_), .. }) => self.configured,
            // What is to stay is the figure of the configuration, if that has one.
            Some(Ruling { limits, expires_at: None }) => {
                self.configured.map(|before| limits.concurrency.unwrap_or(before))
            }
        };
        self.ruling = ruling;
    }

    /// The configuration of a queue says how many may run at a time, from now on and until it says something else.
    pub fn configure(&mut self, concurrency: Option<u32>) {
        self.configured = concurrency;
        if let Some(ruling) = &mut self.ruling {
            ruling.limits.concurrency = None;
        }
        self.ruling = self.ruling.filter(|ruling| !ruling.limits.is_empty());
    }

    /// The configuration of a queue says how many may start in a while, from now on. What was decided until some moment is
    /// over: a figure that is to stay cannot stand in it.
    pub fn configure_rate(&mut self, rate: Option<Pace>) {
        let lasting = self.ruling.filter(|ruling| ruling.expires_at.is_none());
        let limits = Limits { rate, ..lasting.map(|ruling| ruling.limits).unwrap_or_default() };
        self.ruling = Some(Ruling { limits, expires_at: None }).filter(|_| !limits.is_empty());
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
        let end = self.starts.end().filter(|_| self.ruling.is_none() && self.configured.is_none());
        self.closed_until.into_iter().chain(expires_at).chain(end).min()
    }
}
