//! Successors: the jobs that wait for the end of another.

use std::collections::{BTreeSet, HashMap};

use hapax_core::JobId;

use super::Facts;
use crate::row::Seq;

/// Who waits, by whom they wait for. Few jobs do. With the standard hasher: ids may come from clients.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Successors(HashMap<JobId, BTreeSet<Seq>>);

impl Successors {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let waits = |facts: &Facts<'_>| facts.waits_for.map(|other| (other, facts.seq));
        let (old, new) = (before.and_then(waits), after.and_then(waits));
        if old == new {
            return;
        }
        if let Some((other, seq)) = old
            && let Some(seqs) = self.0.get_mut(&other)
        {
            seqs.remove(&seq);
            if seqs.is_empty() {
                self.0.remove(&other);
            }
        }
        if let Some((other, seq)) = new {
            self.0.entry(other).or_default().insert(seq);
        }
    }

    /// Who waits for that job, oldest first.
    pub(crate) fn of(&self, id: JobId) -> Vec<Seq> {
        self.0.get(&id).into_iter().flatten().copied().collect()
    }
}
