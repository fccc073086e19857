//! What happens to workflows.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::workflow::{Mark, Workflow, WorkflowState};
use hapax_core::{Admission, Job, JobId, JobType, State, Timestamp};

use super::EventKind;
use super::derive::error;
use super::event::{EventError, News, Unnumbered};

/// What happened to a workflow, with the `data` members of Events 4.4.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkflowFact {
    /// It was accepted.
    Started {
        /// How many jobs it has, callbacks aside.
        total_steps: usize,
    },
    /// One of its jobs was done.
    StepCompleted {
        /// The job of the step.
        job: JobId,
        /// Its type.
        job_type: JobType,
        /// How long it took.
        duration: Duration,
        /// How many jobs have not ended.
        steps_remaining: usize,
    },
    /// All of it was done.
    Completed {
        /// How many jobs it has, callbacks aside.
        total_steps: usize,
        /// From its start to its end.
        duration: Duration,
    },
    /// All of it has ended, and not all of it well.
    Failed {
        /// The job with whose end it ended.
        job: Option<(JobId, JobType)>,
        /// Why that failed.
        error: Option<Arc<EventError>>,
    },
    /// It was called off.
    Cancelled,
}

impl WorkflowFact {
    pub(super) const fn kind(&self) -> EventKind {
        match self {
            WorkflowFact::Started { .. } => EventKind::WorkflowStarted,
            WorkflowFact::StepCompleted { .. } => EventKind::WorkflowStepCompleted,
            WorkflowFact::Completed { .. } => EventKind::WorkflowCompleted,
            WorkflowFact::Failed { .. } => EventKind::WorkflowFailed,
            WorkflowFact::Cancelled => EventKind::WorkflowCancelled,
        }
    }
}

/// A workflow was accepted.
pub(crate) fn workflow_started(
    workflow: &Workflow,
    admissions: &[Admission],
    at: Timestamp,
    events: &mut Vec<Unnumbered>,
) {
    let first = admissions.first().map(|admission| &admission.job);
    push(events, workflow, first, at, WorkflowFact::Started { total_steps: workflow.jobs() });
}

/// A workflow went on by the end of a job, or by somebody's wish.
pub(crate) fn progressed(
    workflow: &Workflow,
    job: Option<&Job>,
    at: Timestamp,
    events: &mut Vec<Unnumbered>,
) {
    if let Some(job) = job.filter(|job| job.state() == State::Completed) {
        let steps_remaining = workflow.count(Mark::Waiting) + workflow.count(Mark::Released);
        let duration = job.started_at.map_or(Duration::ZERO, |since| at.since(since));
        let job_type = job.spec.kind.clone();
        let fact = WorkflowFact::StepCompleted { job: job.id, job_type, duration, steps_remaining };
        push(events, workflow, Some(job), at, fact);
    }
    // A job that ends after its workflow did says nothing new about it.
    if workflow.ended_at != Some(at) {
        return;
    }
    let fact = match workflow.state {
        WorkflowState::Running => return,
        WorkflowState::Completed => {
            WorkflowFact::Completed { total_steps: workflow.jobs(), duration: at.since(workflow.created_at) }
        }
        WorkflowState::Failed => {
            let failed = job.filter(|job| job.state() != State::Completed);
            let name = failed.map(|job| (job.id, job.spec.kind.clone()));
            WorkflowFact::Failed { job: name, error: failed.map(error) }
        }
        WorkflowState::Cancelled => WorkflowFact::Cancelled,
    };
    push(events, workflow, job, at, fact);
}

fn push(
    events: &mut Vec<Unnumbered>,
    workflow: &Workflow,
    job: Option<&Job>,
    at: Timestamp,
    fact: WorkflowFact,
) {
    let queue = job.map(|job| job.spec.queue.clone());
    let news = News::Workflow { id: workflow.id, name: workflow.name.clone(), fact };
    events.push(Unnumbered { at, queue, news, traced: None });
}
