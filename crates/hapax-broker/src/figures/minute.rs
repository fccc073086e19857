//! What happens now.

use std::mem;

use hapax_core::Timestamp;

use super::bucket::Bucket;
use super::series::MINUTE;

/// The current minute of one queue.
#[derive(Debug)]
pub(super) struct Minute {
    start: Timestamp,
    pub(super) bucket: Bucket,
}

impl Minute {
    /// The minute of a moment, in which nothing has happened.
    pub(super) fn of(moment: Timestamp) -> Minute {
        let width = i64::try_from(MINUTE.as_millis()).unwrap_or(i64::MAX);
        let start = Timestamp::from_millis(moment.millis().div_euclid(width) * width);
        Minute { start, bucket: Bucket::default() }
    }

    /// Whether a moment lies in it. The clock may jump either way.
    pub(super) fn covers(&self, moment: Timestamp) -> bool {
        self.start <= moment && moment < self.start + MINUTE
    }

    /// Its first moment.
    pub(super) fn start(&self) -> Timestamp {
        self.start
    }

    /// What has happened in it, if anything has; it knows nothing of it from here on.
    pub(super) fn take(&mut self) -> Option<(Timestamp, Bucket)> {
        let bucket = mem::take(&mut self.bucket);
        (bucket != Bucket::default()).then_some((self.start, bucket))
    }
}
