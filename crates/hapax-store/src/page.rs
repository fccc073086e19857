//! Bounded reads.

use hapax_core::{JobId, QueueName, Timestamp};

/// How many bytes of dead letters one page has before it stops short of its limit, give or take a letter: they come whole.
pub const LETTER_BYTES_MAX: usize = 64 << 20;

/// Which dead letters to list. A page may be short and others follow: [`LETTER_BYTES_MAX`] ends it early.
#[derive(Debug, Clone, Default)]
pub struct DeadLetterQuery {
    /// Only those of this queue.
    pub queue: Option<QueueName>,
    /// Only those after this one in the list, which runs from the newest to the oldest, of
    /// equally old ones the larger id first.
    pub after: Option<(Timestamp, JobId)>,
    /// Leave out so many.
    pub offset: usize,
    /// At most so many.
    pub limit: usize,
}

/// Which queues to list.
#[derive(Debug, Clone, Default)]
pub struct QueueQuery {
    /// Only those whose name comes after this one.
    pub after: Option<QueueName>,
    /// Leave out so many.
    pub offset: usize,
    /// At most so many.
    pub limit: usize,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The part.
    pub items: Vec<T>,
    /// How many the whole list has.
    pub total: u64,
    /// Whether more come after these.
    pub has_more: bool,
}
