//! How long a job and its attempts may take.

use std::time::Duration;

/// Limits on time that a client set, beyond that on one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeLimits {
    /// From its creation to its end, over all attempts.
    pub total: Option<Duration>,
    /// From its creation to its first start.
    pub enqueue: Option<Duration>,
    /// Between two signs of life of its worker. It takes the place of every visibility timeout.
    pub heartbeat: Option<Duration>,
    /// What an attempt gets beyond its `timeout`, to clean up.
    pub grace: Option<Duration>,
}

impl TimeLimits {
    /// Whether one of them counts from the job's creation.
    pub(crate) fn count_from_creation(self) -> bool {
        self.total.is_some() || self.enqueue.is_some()
    }
}
