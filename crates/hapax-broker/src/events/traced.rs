//! What an event says to those who follow traces: enough to know an attempt by its end alone, whoever saw it begin.

use hapax_core::{Job, Timestamp, TraceContext};

/// Where a job stands in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traced {
    /// The step of a trace that caused the job, if its client said.
    pub context: Option<TraceContext>,
    /// When its newest attempt started.
    pub started_at: Option<Timestamp>,
    /// Its newest attempt.
    pub attempt: u32,
    /// How often it was ever delivered: attempts are counted anew when a job is revived, this is not.
    pub fence: u64,
}

impl Traced {
    pub(crate) fn of(job: &Job) -> Traced {
        Traced {
            context: TraceContext::of(&job.spec.meta),
            started_at: job.started_at,
            attempt: job.attempt,
            fence: job.fence,
        }
    }
}
