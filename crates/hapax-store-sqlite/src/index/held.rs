//! Held keys: the jobs that carry one and have not ended, in the order in which they were accepted.

use std::collections::BTreeSet;

use hapax_store::{HELD_SCAN_MAX, HeldQuery};

use super::Facts;
use crate::row::Seq;

/// The jobs that hold a key.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Held(BTreeSet<Seq>);

/// A part of them, to be looked through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HeldPart {
    pub(crate) seqs: Vec<Seq>,
    pub(crate) has_more: bool,
}

impl Held {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let held = |facts: &Facts<'_>| {
            Some(facts.seq).filter(|_| facts.held.is_some() && !facts.state.is_terminal())
        };
        match (before.and_then(held), after.and_then(held)) {
            (Some(seq), None) => drop(self.0.remove(&seq)),
            (None, Some(seq)) => drop(self.0.insert(seq)),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// What has to be read to answer. Without a filter every job fits, so no more than those that are shown.
    pub(super) fn part(&self, query: &HeldQuery) -> HeldPart {
        let HeldQuery { after, kind, queue, created_before, limit } = query;
        let fits_all = kind.is_none() && queue.is_none() && created_before.is_none();
        let count = if fits_all { HELD_SCAN_MAX.min(*limit) } else { HELD_SCAN_MAX };
        let after = after.map(|after| Seq::try_from(after).unwrap_or(Seq::MAX));
        let first = after.map_or(Seq::MIN, |after| after.saturating_add(1));
        let mut rest = self.0.range(first..);
        let seqs = rest.by_ref().take(count).copied().collect();
        HeldPart { seqs, has_more: rest.next().is_some() }
    }
}
