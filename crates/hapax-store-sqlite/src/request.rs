//! What callers ask of the writer, and the way back to them.

use hapax_core::{Chance, Event, Incoming, Json, Timestamp, WorkerError};
use hapax_store::{Action, Advance, Answer, Change, Claim, Op};
use tokio::sync::oneshot;

/// Something to do, and whom to tell.
#[derive(Debug)]
pub(crate) enum Request {
    Commit { ops: Vec<Op>, caller: oneshot::Sender<Vec<Answer>> },
    Claim { claim: Claim, caller: oneshot::Sender<Vec<Change>> },
    Advance { now: Timestamp, limit: usize, chance: Chance, caller: oneshot::Sender<Advance> },
    Reset { caller: oneshot::Sender<()> },
}

/// Something that was done. The caller hears of it when it is on disk.
#[derive(Debug)]
pub(crate) enum Answered {
    Commit { answers: Vec<Answer>, caller: oneshot::Sender<Vec<Answer>> },
    Claim { changes: Vec<Change>, caller: oneshot::Sender<Vec<Change>> },
    Advance { advance: Advance, caller: oneshot::Sender<Advance> },
    Reset { caller: oneshot::Sender<()> },
}

impl Answered {
    /// Tells the caller. One that does not wait any more misses nothing: it will ask again.
    pub(crate) fn tell(self) {
        match self {
            Answered::Commit { answers, caller } => drop(caller.send(answers)),
            Answered::Claim { changes, caller } => drop(caller.send(changes)),
            Answered::Advance { advance, caller } => drop(caller.send(advance)),
            Answered::Reset { caller } => drop(caller.send(())),
        }
    }
}

/// What a request adds to its group.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    pub(crate) jobs: usize,
    pub(crate) bytes: usize,
}

impl Request {
    pub(crate) fn weight(&self) -> Weight {
        match self {
            Request::Commit { ops, .. } => ops.iter().map(weight_of_op).fold(Weight::default(), Weight::plus),
            Request::Claim { claim, .. } => Weight { jobs: claim.count, bytes: 0 },
            Request::Advance { limit, .. } => Weight { jobs: *limit, bytes: 0 },
            Request::Reset { .. } => Weight::default(),
        }
    }

    /// How many operations it counts for in the facts about its commit.
    pub(crate) fn operations(&self) -> usize {
        match self {
            Request::Commit { ops, .. } => ops.len(),
            Request::Claim { .. } | Request::Advance { .. } | Request::Reset { .. } => 1,
        }
    }
}

impl Weight {
    pub(crate) fn plus(self, other: Weight) -> Weight {
        Weight { jobs: self.jobs.saturating_add(other.jobs), bytes: self.bytes.saturating_add(other.bytes) }
    }
}

fn weight_of_op(op: &Op) -> Weight {
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

#[cfg(test)]
mod tests;
