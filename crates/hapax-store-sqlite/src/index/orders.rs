//! Orders: the jobs with an ordering key that have not ended, one line for each key.

use std::collections::{BTreeSet, HashMap};

use hapax_core::Order;

use super::Facts;
use crate::row::{Seq, Turn};

/// A place in a line: those who wait for another come after the one who does not, by when they joined it.
pub(super) type Spot = (bool, Turn, Seq);

/// Lines by what their jobs have in common. Few jobs stand in one. With the standard hasher: keys come from clients.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Orders(HashMap<Order, BTreeSet<Spot>>);

impl Orders {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let (old, new) = (before.and_then(standing), after.and_then(standing));
        if old == new {
            return;
        }
        if let Some((order, spot)) = old
            && let Some(line) = self.0.get_mut(&order)
        {
            line.remove(&spot);
            if line.is_empty() {
                self.0.remove(&order);
            }
        }
        if let Some((order, spot)) = new {
            self.0.entry(order).or_default().insert(spot);
        }
    }

    /// Who stands at the end of a line.
    pub(crate) fn last_of(&self, order: &Order) -> Option<Seq> {
        self.0.get(order)?.last().map(|(_, _, seq)| *seq)
    }
}

fn standing(facts: &Facts<'_>) -> Option<(Order, Spot)> {
    let (key, turn) = facts.ordered?;
    let order = Order { queue: facts.queue.clone(), key: key.clone() };
    Some((order, (facts.waits_for.is_some(), turn, facts.seq)))
}
