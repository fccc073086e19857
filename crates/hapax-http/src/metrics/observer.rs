//! Counts what the broker reports.

use std::sync::Arc;

use hapax_broker::{JobFact, News, Observer};
use hapax_core::{QueueName, Timestamp};

use super::registry::{Registered, StrategyLabel};

/// Counts events as they happen.
#[derive(Debug)]
pub(super) struct Events(pub(super) Arc<Registered>);

impl Observer for Events {
    fn event(&self, _at: Timestamp, _queue: Option<&QueueName>, news: &News) {
        let jobs = &self.0.jobs;
        let News::Job { fact, .. } = news else { return };
        match fact {
            JobFact::Enqueued { .. } => jobs.enqueued.inc(),
            JobFact::Scheduled { .. } => jobs.scheduled.inc(),
            JobFact::Started { waited, .. } => {
                jobs.wait_seconds.0.observe(waited.as_secs_f64());
                jobs.started.inc()
            }
            JobFact::Completed { duration, .. } => {
                jobs.run_seconds.0.observe(duration.as_secs_f64());
                jobs.completed.inc()
            }
            JobFact::Failed { duration, .. } => {
                if let Some(duration) = duration {
                    jobs.run_seconds.0.observe(duration.as_secs_f64());
                }
                jobs.failed.inc()
            }
            JobFact::Retrying { .. } => jobs.retried.inc(),
            JobFact::Discarded { .. } => jobs.discarded.inc(),
            JobFact::Cancelled { .. } => jobs.cancelled.inc(),
            JobFact::Heartbeat { .. } => jobs.heartbeats.inc(),
            JobFact::Progress { .. } => jobs.progress_reports.inc(),
            JobFact::Checkpointed { .. } => jobs.checkpoints.inc(),
            JobFact::Expired { .. } => jobs.expired.inc(),
            JobFact::OutOfTime { .. } => jobs.out_of_time.inc(),
            JobFact::RateExceeded { .. } => jobs.rate_limited.inc(),
            JobFact::RateDropped { .. } => jobs.rate_dropped.inc(),
            JobFact::RateReleased { .. }
            | JobFact::RateAdjusted { .. }
            | JobFact::Reprioritized { .. }
            | JobFact::LetterAdded { .. }
            | JobFact::LetterRetried
            | JobFact::LetterDeleted
            | JobFact::Displaced
            | JobFact::Moved => return,
        };
    }

    fn conflict(&self, rule: &'static str) {
        self.0.jobs.conflicts.get_or_create(&StrategyLabel { strategy: rule }).inc();
    }

    fn deduplicated(&self) {
        self.0.jobs.deduplicated.inc();
    }

    fn released(&self, jobs: usize) {
        self.0.jobs.keys_released.inc_by(u64::try_from(jobs).unwrap_or(u64::MAX));
    }
}
