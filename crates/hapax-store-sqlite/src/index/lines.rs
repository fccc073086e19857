//! Lines: the available jobs of each queue, next one first.

use std::collections::{BTreeMap, HashMap};

use hapax_core::{Priority, QueueName};

use super::Facts;
use crate::row::{Seq, Turn};

/// A place in line in one word: the higher priority first, then the lower turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// A million turns a second for two thousand years.
const TURN_BITS: u32 = 56;

impl Rank {
    pub(super) fn new(priority: Priority, turn: Turn) -> Rank {
        let band = i8::MAX.abs_diff(priority.get());
        Rank(u64::from(band) << TURN_BITS | turn.unsigned_abs())
    }
}

/// One line per queue.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lines(HashMap<QueueName, BTreeMap<Rank, Seq>>);

impl Lines {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let place = |facts: &Facts<'_>| facts.rank.map(|rank| (rank, facts.seq));
        let (old, new) = (before.and_then(place), after.and_then(place));
        if old == new && before.map(|facts| facts.queue) == after.map(|facts| facts.queue) {
            return;
        }
        if let (Some(facts), Some((rank, _))) = (before, old)
            && let Some(line) = self.0.get_mut(facts.queue)
        {
            line.remove(&rank);
            if line.is_empty() {
                self.0.remove(facts.queue);
            }
        }
        if let (Some(facts), Some((rank, seq))) = (after, new) {
            match self.0.get_mut(facts.queue) {
                Some(line) => drop(line.insert(rank, seq)),
                None => drop(self.0.insert(facts.queue.clone(), BTreeMap::from([(rank, seq)]))),
            }
        }
    }

    /// How many jobs wait there.
    pub(crate) fn len(&self, queue: &QueueName) -> usize {
        self.0.get(queue).map_or(0, BTreeMap::len)
    }

    /// The job whose turn it is.
    pub(crate) fn first(&self, queue: &QueueName) -> Option<Seq> {
        self.0.get(queue)?.first_key_value().map(|(_, seq)| *seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_priority_goes_first_then_the_lower_turn() {
        let rank = |priority, turn| Rank::new(Priority::new(priority).unwrap(), turn);
        assert!(rank(100, 9) < rank(99, 1));
        assert!(rank(0, 9) < rank(-1, 1));
        assert!(rank(-100, 1) < rank(-100, 2));
    }
}
