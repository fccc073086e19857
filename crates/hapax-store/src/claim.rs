//! A worker's wish for jobs.

use std::time::Duration;

use hapax_core::{Job, LeaseToken, QueueName, Timestamp, WorkerId};

/// How many expired jobs one claim ends at most. Reaching this ends the claim, so that a line of expired jobs
/// costs every worker a little and no worker everything.
pub const EXPIRED_PER_CLAIM_MAX: usize = 1000;

/// How many bytes of arguments and metadata one claim gives out before it stops short of its count: a reply has to fit
/// into memory, and a worker that cannot take it would hold leases on all of it.
pub const CLAIM_BYTES_MAX: usize = 16 << 20;

/// A worker asks for jobs.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The moment for which it is decided.
    pub now: Timestamp,
    /// From these queues, in this order.
    pub queues: Vec<QueueName>,
    /// At most so many. Jobs that turn out to have expired do not count.
    pub count: usize,
    /// Who asks.
    pub worker: Option<WorkerId>,
    /// The proof that will stand on every lease of this claim. Two claims never share one.
    pub token: LeaseToken,
    /// How long the leases shall last.
    pub visibility_timeout: Option<Duration>,
}

/// How far a claim has come: what every engine counts in the same way.
#[derive(Debug, Default)]
pub struct Tray {
    delivered: usize,
    expired: usize,
    bytes: usize,
}

impl Tray {
    /// Whether the claim may take another job.
    pub fn has_room(&self, claim: &Claim) -> bool {
        self.delivered < claim.count && self.expired < EXPIRED_PER_CLAIM_MAX && self.bytes < CLAIM_BYTES_MAX
    }

    /// Counts a job that the claim changed; `fence` is the one that it had before.
    pub fn count(&mut self, fence: u64, job: &Job) {
        // A delivery always raises the fence; anything else that a claim leads to does not.
        if job.fence > fence {
            self.delivered += 1;
            self.bytes += job.spec.args.as_str().len() + job.spec.meta.as_str().len();
        } else {
            self.expired += 1;
        }
    }
}
