//! The only place of the benchmark that reads a clock or waits.

use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

#[expect(clippy::disallowed_methods, reason = "measuring elapsed time is what a benchmark is for")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A moment as the server's clock will show it, in the notation of the wire.
#[expect(clippy::disallowed_methods, reason = "jobs are scheduled by the calendar")]
pub(crate) fn moment_in(span: Duration) -> Result<String> {
    Ok(jiff::Timestamp::try_from(SystemTime::now() + span)?.to_string())
}

#[expect(clippy::disallowed_methods, reason = "between two looks at a child process that is starting")]
pub(crate) async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

/// The part of a run that counts: what ends before `from` is warm-up, what ends after `until` is late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

impl Window {
    pub(crate) fn opening(warm_up: Duration, length: Duration) -> Self {
        let from = now() + warm_up;
        Self { from, until: from + length }
    }

    pub(crate) fn contains(&self, instant: Instant) -> bool {
        self.from <= instant && instant < self.until
    }

    pub(crate) fn seconds(&self) -> f64 {
        (self.until - self.from).as_secs_f64()
    }
}
