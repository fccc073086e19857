//! Timers: one per job to which something happens by itself.

use std::collections::BTreeSet;

use hapax_core::Timestamp;

use super::Facts;
use crate::row::Seq;

/// Jobs by the moment at which they are due.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Timers(BTreeSet<(Timestamp, Seq)>);

impl Timers {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let timer = |facts: &Facts<'_>| facts.due.map(|at| (at, facts.seq));
        let (old, new) = (before.and_then(timer), after.and_then(timer));
        if old == new {
            return;
        }
        if let Some(timer) = old {
            self.0.remove(&timer);
        }
        self.0.extend(new);
    }

    /// At most so many jobs that are due, the most overdue first.
    pub(crate) fn due(&self, now: Timestamp, limit: usize) -> Vec<Seq> {
        self.0.range(..=(now, Seq::MAX)).take(limit).map(|(_, seq)| *seq).collect()
    }

    /// When the next job is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.0.first().map(|(at, _)| *at)
    }
}
