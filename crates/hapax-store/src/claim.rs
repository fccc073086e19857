//! A worker's wish for jobs.

use std::collections::BTreeSet;
use std::time::Duration;

use hapax_core::limit::LimitKey;
use hapax_core::{Checkpoint, Job, LeaseToken, QueueName, Spec, TenantId, Timestamp, WorkerId};

use crate::{Change, HeldBack};

/// How many expired jobs one claim ends at most. Reaching this ends the claim, so that a line of expired jobs
/// costs every worker a little and no worker everything.
pub const EXPIRED_PER_CLAIM_MAX: usize = 1000;

/// How many bytes of arguments, metadata, other attributes and checkpoints one claim gives out before it stops short of its
/// count: a reply has to fit into memory, and a worker that cannot take it would hold leases on all of it. The official SDK
/// for Go reads 10 MiB of an answer and loses what is longer, with one attempt at each job in it; the last job comes on top.
pub const CLAIM_BYTES_MAX: usize = 6 << 20;

/// How many jobs of a line a claim looks at to find those of one tenant. Lines are not kept by tenant: a tenant whose jobs
/// stand behind more of others' waits until these are taken.
pub const TENANT_LOOK_MAX: usize = 1000;

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
    /// Only jobs of this tenant. The claim looks at the first [`TENANT_LOOK_MAX`] jobs of each line and at no more.
    pub tenant: Option<TenantId>,
}

/// What a claim brought.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Claimed {
    /// What changed, in the order in which it was met.
    pub changes: Vec<Change>,
    /// For which jobs there was no room: the first of each limit that was met. Those that were met before may be left out.
    pub held: Vec<HeldBack>,
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
            self.bytes += bytes_of(job);
        } else {
            self.expired += 1;
        }
    }
}

/// Whether a claim of a tenant may take a job, as far as limits are known that have no room for those before it.
pub fn may_take(tenant: &TenantId, job: &Job, full: &BTreeSet<LimitKey>) -> bool {
    let is_behind = job.spec.rate_limit.as_deref().is_some_and(|limit| full.contains(&limit.key));
    !is_behind && tenant.owns(&job.spec.meta)
}

/// The bytes of a job that have no bound of their own.
pub fn bytes_of(job: &Job) -> usize {
    let Spec { args, meta, extra, .. } = &*job.spec;
    let texts: usize = [args, meta, extra].into_iter().map(|json| json.as_str().len()).sum();
    // A worker is given the state under two names.
    let saved = |saved: &Checkpoint| 2 * saved.state.as_str().len() + saved.notes.as_str().len();
    texts + job.checkpoint.as_ref().map_or(0, saved)
}
