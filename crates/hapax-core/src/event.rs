//! What can happen to a stored job.

use std::time::Duration;

use crate::{Chance, Json, LeaseToken, SpecPatch, WorkerError, WorkerId};

/// Something that happens to a stored job.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A worker takes it.
    Claim {
        /// Who.
        worker: Option<WorkerId>,
        /// The proof that the worker will show.
        token: LeaseToken,
        /// How long the lease shall last, if the worker says.
        visibility_timeout: Option<Duration>,
    },
    /// A worker has done it.
    Acknowledge {
        /// Who says so.
        claimant: Claimant,
        /// What came of it.
        result: Option<Json>,
    },
    /// A worker could not do it.
    Fail {
        /// Who says so.
        claimant: Claimant,
        /// What went wrong.
        error: WorkerError,
        /// Whether it counts as a failure.
        handback: Handback,
        /// For the pause before the next attempt.
        chance: Chance,
    },
    /// A worker is still at it.
    Heartbeat {
        /// Who says so.
        claimant: Claimant,
        /// How long the lease shall last from here, if not as long as before.
        visibility_timeout: Option<Duration>,
    },
    /// Somebody calls it off.
    Cancel,
    /// Somebody lets a pending job go.
    Activate,
    /// Somebody wants a dead letter tried again.
    Revive {
        /// With these new values.
        patch: SpecPatch,
    },
    /// Somebody throws a dead letter away.
    Forget,
    /// An operator takes its key away.
    Release {
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Somebody removes the job key that it holds.
    RemoveByKey,
    /// Time went by: something that was due may happen.
    TimePassed {
        /// For the pause before the next attempt.
        chance: Chance,
    },
}

/// Whether a worker hands a job back as failed or merely unprocessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handback {
    /// The attempt failed: the retry policy decides.
    Failed,
    /// Somebody else shall do it: back to the queue at once, no failure counted.
    Requeue,
}

/// How a worker identifies itself when it speaks of a job it holds. SDKs send neither part; then
/// being spoken of is enough.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Claimant {
    /// The proof; `Some(Err)` is a text that is no token of ours.
    pub token: Option<Result<LeaseToken, ForeignToken>>,
    /// The name.
    pub worker: Option<WorkerId>,
}

/// A lease text that this server never gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignToken;

impl Claimant {
    /// Nothing known about who speaks.
    pub const UNNAMED: Claimant = Claimant { token: None, worker: None };

    /// Somebody who shows a lease text, which may be anything.
    pub fn showing(lease: Option<&str>, worker: Option<WorkerId>) -> Claimant {
        Claimant { token: lease.map(|text| text.parse().map_err(|()| ForeignToken)), worker }
    }
}
