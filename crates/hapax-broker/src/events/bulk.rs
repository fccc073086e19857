//! What came of requests about many jobs (Bulk Operations 12.1).

use hapax_core::Timestamp;

use super::EventKind;
use super::event::{News, Unnumbered};
use crate::Deed;

/// A request about many jobs that was seen through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkFact {
    /// What was asked for.
    pub wish: BulkWish,
    /// About how many jobs.
    pub total: usize,
    /// For how many it was done.
    pub done: usize,
}

/// What a request about many jobs asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkWish {
    /// That they are accepted, each for itself.
    EnqueueEach,
    /// That they are accepted, all or none.
    EnqueueAll,
    /// That they are called off.
    Cancel,
    /// That they are tried again.
    Retry,
    /// That what is left of them is removed.
    Delete,
}

impl BulkFact {
    pub(super) const fn kind(&self) -> EventKind {
        match self.wish {
            BulkWish::EnqueueEach | BulkWish::EnqueueAll => EventKind::BulkEnqueueCompleted,
            BulkWish::Cancel => EventKind::BulkCancelCompleted,
            BulkWish::Retry => EventKind::BulkRetryCompleted,
            BulkWish::Delete => EventKind::BulkDeleteCompleted,
        }
    }

    pub(crate) fn at(self, at: Timestamp) -> Unnumbered {
        Unnumbered { at, queue: None, news: News::Bulk(self), traced: None }
    }
}

impl From<Deed> for BulkWish {
    fn from(deed: Deed) -> BulkWish {
        match deed {
            Deed::Cancel => BulkWish::Cancel,
            Deed::Retry | Deed::Revive => BulkWish::Retry,
            Deed::Delete | Deed::Forget => BulkWish::Delete,
        }
    }
}
