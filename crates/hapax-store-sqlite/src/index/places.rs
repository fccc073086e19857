//! Places in the list of all jobs: which rows a look at it has to read.

use std::ops::Bound;

use hapax_core::JobId;
use hapax_store::{JobQuery, ListOrder};

use super::visible::Visible;
use crate::row::Seq;

/// A part of the list, to be looked through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) places: Vec<(JobId, Seq)>,
    pub(crate) has_more: bool,
}

impl Visible {
    pub(crate) fn places(&self, query: &JobQuery) -> Places {
        let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        let most = query.scan_max();
        match query.order {
            ListOrder::NewestFirst => part(self.ids().range((Bound::Unbounded, after)).rev(), most),
            ListOrder::OldestFirst => part(self.ids().range((after, Bound::Unbounded)), most),
        }
    }
}

fn part<'i>(mut list: impl Iterator<Item = (&'i JobId, &'i Seq)>, most: usize) -> Places {
    let places = list.by_ref().take(most).map(|(id, seq)| (*id, *seq)).collect();
    Places { places, has_more: list.next().is_some() }
}
