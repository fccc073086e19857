//! What happens to recurring jobs.

use hapax_core::cron::{Cron, Outcome};
use hapax_core::{JobId, JobType, Timestamp};
use hapax_store::Tick;

use super::EventKind;
use super::event::{News, Unnumbered};

/// What happened to a recurring job, with the `data` members of Events 4.5.
#[derive(Debug, Clone, PartialEq)]
pub struct CronFact {
    /// Its schedule.
    pub expression: Box<str>,
    /// The type of its jobs.
    pub job_type: JobType,
    /// The moment at which it was due.
    pub scheduled_at: Timestamp,
    /// What came of it.
    pub outcome: CronOutcome,
}

/// What came of a moment at which a recurring job was due.
#[derive(Debug, Clone, PartialEq)]
pub enum CronOutcome {
    /// It made a job.
    Triggered(JobId),
    /// It made none.
    Skipped {
        /// Why.
        reason: &'static str,
        /// The job that was in the way.
        existing: Option<JobId>,
    },
}

impl CronFact {
    pub(super) const fn kind(&self) -> EventKind {
        match self.outcome {
            CronOutcome::Triggered(_) => EventKind::CronTriggered,
            CronOutcome::Skipped { .. } => EventKind::CronSkipped,
        }
    }
}

/// A recurring job was due.
pub(crate) fn ticked(tick: &Tick, at: Timestamp, events: &mut Vec<Unnumbered>) {
    let Tick { cron, at: due, outcome, skipped, .. } = tick;
    for skip in skipped {
        let outcome = CronOutcome::Skipped { reason: "dst_skip", existing: None };
        events.push(news(cron, skip.at, outcome, at));
    }
    let outcome = match outcome {
        None => return,
        Some(Outcome::Made(id)) => CronOutcome::Triggered(*id),
        Some(other) => match other.reason() {
            Some(reason) => CronOutcome::Skipped { reason, existing: other.existing() },
            None => return,
        },
    };
    events.push(news(cron, *due, outcome, at));
}

fn news(cron: &Cron, scheduled_at: Timestamp, outcome: CronOutcome, at: Timestamp) -> Unnumbered {
    let spec = &cron.template.spec;
    let (expression, job_type) = (cron.expression.clone(), spec.kind.clone());
    let fact = CronFact { expression, job_type, scheduled_at, outcome };
    let news = News::Cron { name: cron.name.clone(), fact };
    Unnumbered { at, queue: Some(spec.queue.clone()), news, traced: None }
}
