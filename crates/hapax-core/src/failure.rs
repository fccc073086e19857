//! What went wrong: the error a worker reports and the history a job keeps.

use std::fmt;
use std::time::Duration;

use crate::{Json, Timestamp};

/// How many failures a job remembers, the newest ones.
pub const FAILURES_KEPT: usize = 20;

/// What a worker says about a failed attempt, in one form whichever way it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerError {
    /// The class of the error, such as `ConnectionTimeout`.
    pub kind: Box<str>,
    /// The code, such as `handler_error`.
    pub code: Box<str>,
    /// The text.
    pub message: Box<str>,
    /// `Some(false)` forbids a retry.
    pub retryable: Option<bool>,
    /// Anything more.
    pub details: Option<Json>,
    /// Where it happened, outermost last.
    pub backtrace: Vec<Box<str>>,
    /// Further names that a policy's list of non-retryable errors may mean.
    pub aliases: Vec<Box<str>>,
    /// What the worker wants done.
    pub directive: Directive,
    /// Before when no job with the same rate limit shall start.
    pub rate_limit_until: Option<Timestamp>,
}

/// What a worker wants done with a job that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    /// Follow the job's retry policy.
    Policy,
    /// Give up, without a dead letter.
    Discard,
    /// Give up and keep the job as a dead letter.
    DeadLetter,
}

impl WorkerError {
    /// An error that the server itself reports about an attempt.
    pub(crate) fn of_server(kind: &str, message: String) -> WorkerError {
        WorkerError {
            kind: kind.into(),
            code: kind.into(),
            message: message.into(),
            retryable: None,
            details: None,
            backtrace: Vec::new(),
            aliases: Vec::new(),
            directive: Directive::Policy,
            rate_limit_until: None,
        }
    }

    /// The names under which a retry policy may list this error.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        [&*self.kind, &*self.code].into_iter().chain(self.aliases.iter().map(|a| &**a))
    }
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Which attempt.
    pub attempt: u32,
    /// The class of the error.
    pub kind: Box<str>,
    /// The code.
    pub code: Box<str>,
    /// The text.
    pub message: Box<str>,
    /// When the server heard of it.
    pub occurred_at: Timestamp,
    /// What the worker said about a retry.
    pub retryable: Option<bool>,
    /// Anything more.
    pub details: Option<Json>,
    /// Where it happened.
    pub backtrace: Vec<Box<str>>,
    /// Which limit on time was passed, if that is what went wrong.
    pub overrun: Option<Overrun>,
}

impl Failure {
    /// Whether the server wrote it to say why it gave the job up. A worker may report the same code, but neither a limit on
    /// time nor the server's own words.
    pub(crate) fn is_farewell(&self) -> bool {
        let is_server = self.kind == self.code && self.retryable.is_none() && self.details.is_none();
        let known = Farewell::ALL.into_iter().find(|farewell| *self.code == *farewell.code());
        is_server
            && known.is_some_and(|farewell| match farewell {
                Farewell::Outwaited | Farewell::Total => self.overrun.is_some(),
                Farewell::Expired | Farewell::Overflow | Farewell::RateLimited | Farewell::QueueDeleted => {
                    self.message.starts_with(farewell.words())
                }
            })
    }
}

/// Why the server gives a job up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    Expired,
    Outwaited,
    /// The only one that a job can meet while it runs.
    Total,
    Overflow,
    RateLimited,
    QueueDeleted,
}

impl Farewell {
    pub(crate) const ALL: [Farewell; 6] = [
        Farewell::Expired,
        Farewell::Outwaited,
        Farewell::Total,
        Farewell::Overflow,
        Farewell::RateLimited,
        Farewell::QueueDeleted,
    ];

    pub(crate) const fn code(self) -> &'static str {
        match self {
            Farewell::Expired => "expired",
            Farewell::Outwaited => "enqueue_ttl_expired",
            Farewell::Total => "total_timeout",
            Farewell::Overflow => "overflow",
            Farewell::RateLimited => "rate_limited",
            Farewell::QueueDeleted => "queue_deleted",
        }
    }

    /// How the text begins.
    const fn words(self) -> &'static str {
        match self {
            Farewell::Expired => "nobody started it before it expired at ",
            Farewell::Outwaited => "nobody started it within ",
            Farewell::Total => "it cannot be done within ",
            Farewell::Overflow => "the queue was full, and a newer job took its place",
            Farewell::RateLimited => "its rate limit left no room for it, and on_limit is drop",
            Farewell::QueueDeleted => "an operator deleted queue ",
        }
    }

    /// The error, and how its text ends.
    pub(crate) fn error(self, end: impl fmt::Display) -> WorkerError {
        WorkerError::of_server(self.code(), format!("{}{end}", self.words()))
    }
}

/// A limit on time and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// How long it could have been.
    pub limit: Duration,
    /// How long it was.
    pub elapsed: Duration,
}

/// The newest failures of a job, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    entries: Vec<Failure>,
    /// Whether the newest entry is still the job's present error: a success or a revival clears it.
    current: bool,
}

impl History {
    /// A history as a store kept it.
    pub fn restored(entries: Vec<Failure>, current: bool) -> History {
        History { entries, current }
    }

    /// All remembered failures, oldest first.
    pub fn entries(&self) -> &[Failure] {
        &self.entries
    }

    /// The error that the job carries at present.
    pub fn current(&self) -> Option<&Failure> {
        self.entries.last().filter(|_| self.current)
    }

    pub(crate) fn push(&mut self, attempt: u32, error: WorkerError, now: Timestamp) {
        let WorkerError {
            kind,
            code,
            message,
            retryable,
            details,
            backtrace,
            aliases: _,
            directive: _,
            rate_limit_until: _,
        } = error;
        if self.entries.len() == FAILURES_KEPT {
            self.entries.remove(0);
        }
        let occurred_at = now;
        self.entries.push(Failure {
            attempt,
            kind,
            code,
            message,
            occurred_at,
            retryable,
            details,
            backtrace,
            overrun: None,
        });
        self.current = true;
    }

    /// The newest failure is that a limit on time was passed.
    pub(crate) fn note_overrun(&mut self, overrun: Overrun) {
        if let Some(newest) = self.entries.last_mut() {
            newest.overrun = Some(overrun);
        }
    }

    pub(crate) fn clear_current(&mut self) {
        self.current = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_keeps_the_newest_failures() {
        let mut history = History::default();
        for attempt in 1..=25 {
            history.push(attempt, WorkerError::of_server("timeout", String::new()), Timestamp::EPOCH);
        }
        let attempts: Vec<_> = history.entries().iter().map(|f| f.attempt).collect();
        assert_eq!(attempts, (6..=25).collect::<Vec<_>>());
    }

    #[test]
    fn a_cleared_error_stays_in_the_history() {
        let mut history = History::default();
        history.push(1, WorkerError::of_server("timeout", String::new()), Timestamp::EPOCH);
        assert!(history.current().is_some());
        history.clear_current();
        assert!(history.current().is_none());
        assert_eq!(history.entries().len(), 1);
    }
}
