//! What the clients know about one job.

use std::collections::BTreeSet;

/// Whether the job exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Birth {
    /// A request for it is under way or its outcome is unknown.
    Unknown,
    /// Its enqueue was acknowledged, or it was seen.
    Accepted,
    /// It was answered that another job stands for it, or that nothing was done.
    Refused,
}

/// How a job ended, by the name of the state.
pub(crate) type End = &'static str;

/// One job.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) birth: Birth,
    /// The key it holds, if it is unique.
    pub(crate) key: Option<String>,
    /// Each delivery that a worker received.
    pub(crate) fences: BTreeSet<u64>,
    /// When the newest of them was noted, by the book's own order.
    pub(crate) noted_at: usize,
    /// The end that was acknowledged, and when by the book's own order.
    pub(crate) end: Option<(End, usize)>,
    /// Ends that were asked for with an outcome that is unknown.
    pub(crate) possible: BTreeSet<End>,
}

impl Record {
    pub(crate) fn new(key: Option<String>) -> Record {
        Record {
            birth: Birth::Unknown,
            key,
            fences: BTreeSet::new(),
            noted_at: 0,
            end: None,
            possible: BTreeSet::new(),
        }
    }
}
