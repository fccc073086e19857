//! How much an operation is, for engines that carry out many together.

use hapax_core::{Event, Incoming, Json, WorkerError};

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
            Action::Pause(_) | Action::Resume(_) => Weight { jobs: 1, bytes: 0 },
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
        Event::Release { reason } => reason.as_ref().map_or(0, |reason| reason.len()),
        Event::Claim { .. }
        | Event::Heartbeat { .. }
        | Event::Cancel
        | Event::Activate
        | Event::Forget
        | Event::RemoveByKey
        | Event::TimePassed { .. } => 0,
    }
}

fn weight_of_job(incoming: &Incoming) -> Weight {
    let spec = &incoming.spec;
    Weight { jobs: 1, bytes: spec.args.as_str().len() + spec.meta.as_str().len() + spec.extra.as_str().len() }
}
