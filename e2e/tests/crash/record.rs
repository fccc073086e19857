//! What the clients know about one job.

use std::collections::BTreeSet;

/// Whether the job exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Birth {
    /// A request for it is under way or was never answered.
    Unknown,
    /// Its enqueue was acknowledged, or it was seen.
    Accepted,
    /// It was answered that another job stands for it.
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
    /// Ends that were asked for without an answer.
    pub(crate) possible: BTreeSet<End>,
}

impl Record {
    pub(crate) fn new(key: Option<&str>) -> Record {
        Record {
            birth: Birth::Unknown,
            key: key.map(str::to_owned),
            fences: BTreeSet::new(),
            noted_at: 0,
            end: None,
            possible: BTreeSet::new(),
        }
    }
}
