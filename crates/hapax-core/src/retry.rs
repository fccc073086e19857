//! Whether and when a failed job is tried again.

use std::time::Duration;

use crate::{JobId, WorkerError};

/// A job's retry policy, complete: what the client left out has its default.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// How often the job may run in all; 0 and 1 both mean once.
    pub max_attempts: u32,
    /// The first pause.
    pub initial_interval: Duration,
    /// How fast pauses grow.
    pub backoff_coefficient: f64,
    /// The longest pause.
    pub max_interval: Duration,
    /// Whether pauses vary by half, so that jobs that failed together do not return together.
    pub jitter: bool,
    /// Errors after which the job is not tried again; an entry that ends in `.*` means all below it.
    pub non_retryable_errors: Vec<Box<str>>,
    /// What becomes of the job when it is given up.
    pub on_exhaustion: Exhaustion,
    /// The shape in which pauses grow.
    pub backoff: Backoff,
}

/// What becomes of a job that is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhaustion {
    /// It is discarded.
    Discard,
    /// It is discarded and stays in the dead-letter list.
    DeadLetter,
}

/// The shape in which pauses grow with the number n of the retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// Always the initial interval.
    Constant,
    /// Interval × n.
    Linear,
    /// Interval × coefficient^(n−1).
    Exponential,
    /// Interval × n^coefficient.
    Polynomial,
}

/// A policy that cannot be followed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RetryError {
    /// Zero pauses would retry in a busy loop.
    #[error("initial_interval must be longer than zero")]
    NoInterval,
    /// Pauses would shrink.
    #[error("backoff_coefficient must be a number of at least 1.0, not {0}")]
    Coefficient(f64),
    /// The cap is below the start.
    #[error("max_interval must not be shorter than initial_interval")]
    MaxBelowInitial,
    /// An entry without text would match nothing or everything.
    #[error("non_retryable_errors must not hold an empty text")]
    EmptyErrorName,
}

/// 64 random bits of the caller, for jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance(pub u64);

impl Chance {
    /// Other bits for each job: jobs that fail in the same moment must not return in the same moment.
    pub(crate) fn of_job(self, id: JobId) -> Chance {
        let random_part = id.bytes()[8..].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        // A multiplication by an odd constant spreads bits that differ over the high ones, which count most.
        Chance((self.0 ^ random_part).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number from 0 up to but not including 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in a double")]
    fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Default for RetryPolicy {
    /// Three attempts, one second doubling up to five minutes, with jitter (Retry 2).
    fn default() -> Self {
        RetryPolicy {
            max_attempts: 3,
            initial_interval: Duration::from_secs(1),
            backoff_coefficient: 2.0,
            max_interval: Duration::from_mins(5),
            jitter: true,
            non_retryable_errors: Vec::new(),
            on_exhaustion: Exhaustion::Discard,
            backoff: Backoff::Exponential,
        }
    }
}

impl RetryPolicy {
    /// Checks what the parts mean together.
    pub fn validate(&self) -> Result<(), RetryError> {
        if self.initial_interval.is_zero() {
            return Err(RetryError::NoInterval);
        }
        // Written so that NaN is refused too.
        if !(self.backoff_coefficient >= 1.0 && self.backoff_coefficient.is_finite()) {
            return Err(RetryError::Coefficient(self.backoff_coefficient));
        }
        if self.max_interval < self.initial_interval {
            return Err(RetryError::MaxBelowInitial);
        }
        if self.non_retryable_errors.iter().any(|name| name.is_empty()) {
            return Err(RetryError::EmptyErrorName);
        }
        Ok(())
    }

    /// The pause before retry number `n`, which is 1 after the first failure.
    pub fn delay(&self, n: u32, chance: Chance) -> Duration {
        let n = f64::from(n.max(1));
        let growth = match self.backoff {
            Backoff::Constant => 1.0,
            Backoff::Linear => n,
            Backoff::Exponential => self.backoff_coefficient.powf(n - 1.0),
            Backoff::Polynomial => n.powf(self.backoff_coefficient),
        };
        let cap = self.max_interval.as_secs_f64();
        let mut seconds = (self.initial_interval.as_secs_f64() * growth).min(cap);
        if self.jitter {
            seconds = (seconds * (0.5 + chance.unit())).min(cap);
        }
        // In whole milliseconds, as it is told to clients; the cap keeps the number small and finite.
        let micros = Duration::from_secs_f64(seconds).as_micros();
        Duration::from_millis(u64::try_from(micros.div_ceil(1000)).unwrap_or(u64::MAX))
    }

    /// Whether the job has no attempt left after this one.
    pub fn is_exhausted(&self, attempt: u32) -> bool {
        attempt >= self.max_attempts.max(1)
    }

    /// Whether the policy or the worker forbids another attempt after this error.
    pub fn forbids(&self, error: &WorkerError) -> bool {
        error.retryable == Some(false)
            || error.names().any(|name| self.non_retryable_errors.iter().any(|entry| covers(entry, name)))
    }
}

fn covers(entry: &str, name: &str) -> bool {
    match entry.strip_suffix(".*") {
        Some(prefix) => name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')),
        None => entry == name,
    }
}

#[cfg(test)]
mod tests;
