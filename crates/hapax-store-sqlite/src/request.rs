//! What callers ask of the writer, and the way back to them.

use hapax_core::{Chance, Timestamp};
use hapax_store::{Advance, Answer, Claim, Claimed, Op, Weight};
use tokio::sync::oneshot;

/// Something to do, and whom to tell.
#[derive(Debug)]
pub(crate) enum Request {
    Commit { ops: Vec<Op>, caller: oneshot::Sender<Vec<Answer>> },
    Claim { claim: Claim, caller: oneshot::Sender<Claimed> },
    Advance { now: Timestamp, limit: usize, chance: Chance, caller: oneshot::Sender<Advance> },
    Reset { caller: oneshot::Sender<()> },
}

/// Something that was done. The caller hears of it when it is on disk.
#[derive(Debug)]
pub(crate) enum Answered {
    Commit { answers: Vec<Answer>, caller: oneshot::Sender<Vec<Answer>> },
    Claim { claimed: Claimed, caller: oneshot::Sender<Claimed> },
    Advance { advance: Advance, caller: oneshot::Sender<Advance> },
    Reset { caller: oneshot::Sender<()> },
}

impl Answered {
    /// Tells the caller. One that does not wait any more misses nothing: it will ask again.
    pub(crate) fn tell(self) {
        match self {
            Answered::Commit { answers, caller } => drop(caller.send(answers)),
            Answered::Claim { claimed, caller } => drop(caller.send(claimed)),
            Answered::Advance { advance, caller } => drop(caller.send(advance)),
            Answered::Reset { caller } => drop(caller.send(())),
        }
    }
}

impl Request {
    pub(crate) fn weight(&self) -> Weight {
        match self {
            Request::Commit { ops, .. } => ops.iter().map(Weight::of).fold(Weight::default(), Weight::plus),
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

#[cfg(test)]
mod tests;
