//! What happened in one stretch of time.

use std::time::Duration;

use super::histogram::Histogram;

/// What happened in one stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bucket {
    /// Jobs that became available.
    pub(super) enqueued: u64,
    /// Attempts that failed.
    pub(super) failed: u64,
    /// How long jobs waited that were started.
    pub(super) waited: Histogram,
    completed: u64,
    ran_millis: u64,
}

impl Bucket {
    /// A job was completed after so long.
    pub(super) fn completed(&mut self, ran: Duration) {
        self.completed += 1;
        self.ran_millis = self.ran_millis.saturating_add(u64::try_from(ran.as_millis()).unwrap_or(u64::MAX));
    }

    /// How many jobs were completed.
    pub(super) fn completions(&self) -> u64 {
        self.completed
    }

    /// Attempts that ended.
    pub(super) fn processed(&self) -> u64 {
        self.completed + self.failed
    }

    /// How long a completed attempt ran, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "an average needs no more digits than a double has")]
    pub(super) fn run_average(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.ran_millis as f64 / self.completed as f64)
    }

    pub(super) fn merge(&mut self, other: &Bucket) {
        let Bucket { enqueued, failed, waited, completed, ran_millis } = other;
        self.enqueued += enqueued;
        self.failed += failed;
        self.completed += completed;
        self.ran_millis = self.ran_millis.saturating_add(*ran_millis);
        self.waited.merge(waited);
    }
}
