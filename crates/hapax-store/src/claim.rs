//! A worker's wish for jobs.

use std::time::Duration;

use hapax_core::{LeaseToken, QueueName, Timestamp, WorkerId};

/// How many expired jobs one claim ends at most. Reaching this ends the claim, so that a line of expired jobs
/// costs every worker a little and no worker everything.
pub const EXPIRED_PER_CLAIM_MAX: usize = 1000;

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
