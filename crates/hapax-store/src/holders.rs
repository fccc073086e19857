//! Reads about keys: who carries one, and which are held.

use hapax_core::unique::{Key, Watch};
use hapax_core::{Job, JobType, QueueName, Timestamp};

/// How many jobs one look at the held keys goes through at most, fitting or not: a rare type among millions of jobs
/// takes several pages and not one long read.
pub const HELD_SCAN_MAX: usize = 10_000;

/// Which jobs that carry a key to read.
#[derive(Debug, Clone)]
pub struct HolderQuery {
    /// The key.
    pub key: Key,
    /// All that this covers at this moment are wanted, as far as a decision depends on them: the newest live one in each
    /// state, or every live one if the watch says so, and the newest of those that have ended.
    pub covered_by: Option<(Watch, Timestamp)>,
    /// Besides, at most so many live and at most so many ended ones, the newest of each.
    pub limit: usize,
}

/// The jobs that carry a key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Holders {
    /// Those that were asked for, newest first, of equally new ones the larger id first.
    pub jobs: Vec<Job>,
    /// How many have not ended.
    pub live: u64,
    /// How many have ended and are kept.
    pub ended: u64,
}

/// Which held keys to list.
#[derive(Debug, Clone, Default)]
pub struct HeldQuery {
    /// Only those after this place in the order of acceptance.
    pub after: Option<u64>,
    /// Only jobs of this type.
    pub kind: Option<JobType>,
    /// Only jobs on this queue.
    pub queue: Option<QueueName>,
    /// Only jobs that were accepted before this moment.
    pub created_before: Option<Timestamp>,
    /// At most so many.
    pub limit: usize,
}

/// A part of the list of held keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldPage {
    /// The jobs that hold them, without their texts.
    pub jobs: Vec<Job>,
    /// Where the next part begins: after this place. Nothing if there is none. A part may be short, even empty, and
    /// others follow: [`HELD_SCAN_MAX`] ends it early.
    pub next: Option<u64>,
}

impl HeldQuery {
    /// Whether the list shows the job.
    pub fn fits(&self, job: &Job) -> bool {
        self.kind.as_ref().is_none_or(|kind| job.spec.kind == *kind)
            && self.queue.as_ref().is_none_or(|queue| job.spec.queue == *queue)
            && self.created_before.is_none_or(|moment| job.created_at < moment)
    }
}
