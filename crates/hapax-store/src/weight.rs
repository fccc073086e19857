//! How much an operation is, for engines that carry out many together.

use hapax_core::{AgentDeed, Event, Incoming, Json, Report, WorkerError};

use crate::{Action, Op};

/// What an operation adds to the group that it is committed with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weight {
    /// How many jobs it touches, at most.
    pub jobs: usize,
    /// How many bytes of arguments, metadata, results and errors it writes.
    pub bytes: usize,
}

impl Weight {
    /// The weight of an operation.
    pub fn of(op: &Op) -> Weight {
        match &op.action {
            Action::Enqueue { incoming, .. } => weight_of_job(incoming),
            Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => {
                incoming.iter().map(weight_of_job).fold(Weight::default(), Weight::plus)
            }
            Action::Step { event, .. } => Weight { jobs: 1, bytes: bytes_of_event(event) },
            Action::StepHolders { event, limit, .. } => {
                Weight { jobs: *limit, bytes: bytes_of_event(event).saturating_mul(*limit) }
            }
            Action::StartWorkflow { workflow, .. } => {
                workflow.plan.jobs.iter().map(weight_of_job).fold(Weight::default(), Weight::plus)
            }
            // Its jobs are not known here; few workflows are called off.
            Action::CancelWorkflow(_) => Weight { jobs: 100, bytes: 0 },
            Action::EditTogether { keys, .. } => Weight { jobs: keys.len(), bytes: 0 },
            Action::Edit { .. }
            | Action::RunCron { .. }
            | Action::Pause(_)
            | Action::Resume(_)
            | Action::RemoveQueue(_) => Weight { jobs: 1, bytes: 0 },
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Weight) -> Weight {
        Weight { jobs: self.jobs.saturating_add(other.jobs), bytes: self.bytes.saturating_add(other.bytes) }
    }
}

/// What the event leaves in the row of its job.
fn bytes_of_event(event: &Event) -> usize {
    let length = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.as_str().len());
    match event {
        Event::Acknowledge { result, .. } => length(result),
        Event::Fail { error: WorkerError { kind, code, message, details, backtrace, .. }, .. } => {
            let lines: usize = backtrace.iter().map(|line| line.len()).sum();
            kind.len() + code.len() + message.len() + length(details) + lines
        }
        Event::Revive { patch } => length(&patch.args) + length(&patch.meta),
        Event::LetGo { parent_results } => {
            parent_results.as_ref().map_or(0, |results| results.list.as_str().len())
        }
        Event::Release { reason } => reason.as_ref().map_or(0, |reason| reason.len()),
        Event::Progress { report: Report { value: _, message, data, checkpoint }, .. } => {
            message.as_ref().map_or(0, |message| message.len()) + length(data) + length(checkpoint)
        }
        Event::SaveCheckpoint { state, notes, .. } => state.as_str().len() + notes.as_str().len(),
        Event::Agent(deed) => match deed {
            AgentDeed::Pause { reason } => reason.as_ref().map_or(0, |reason| reason.len()),
            AgentDeed::Resume { approved: _, comment, metadata } => {
                comment.as_ref().map_or(0, |comment| comment.len()) + length(metadata)
            }
            AgentDeed::RetryTool { call, error, .. } => {
                call.len() + error.as_ref().map_or(0, |error| error.len())
            }
        },
        Event::OnlyIf { filter: _, event } => bytes_of_event(event),
        Event::Claim { .. }
        | Event::DropCheckpoint
        | Event::Heartbeat { .. }
        | Event::Cancel
        | Event::Activate
        | Event::Withdraw
        | Event::Displace
        | Event::LoseQueue
        | Event::MoveTo { .. }
        | Event::Postpone { .. }
        | Event::Drop
        | Event::Forget
        | Event::Retry
        | Event::Delete
        | Event::Reprioritize { .. }
        | Event::Abandon { .. }
        | Event::RemoveByKey
        | Event::TimePassed { .. } => 0,
    }
}

fn weight_of_job(incoming: &Incoming) -> Weight {
    let spec = &incoming.spec;
    Weight { jobs: 1, bytes: spec.args.as_str().len() + spec.meta.as_str().len() + spec.extra.as_str().len() }
}
