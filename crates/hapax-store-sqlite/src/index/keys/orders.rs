//! Orders of many holders besides their age, so that few of them have to be looked at.

use std::collections::BTreeSet;
use std::time::Duration;

use hapax_core::unique::{Anchor, Watch};
use hapax_core::{State, StateSet, Timestamp};

use super::mark::{Mark, Place};

/// Those that live by state; those that have ended, who are alike in that, by the moments from which a period may
/// run. The moment of creation needs no order of its own: that is their age.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Orders {
    live: [BTreeSet<Place>; State::ALL.len()],
    scheduled: Order,
    finished: Order,
}

/// The holder whose window closes last stands last, whatever the period is.
pub(super) type Order = BTreeSet<(Timestamp, Place)>;

impl Orders {
    pub(super) fn insert(&mut self, place: Place, mark: Mark) {
        if mark.state().is_terminal() {
            self.scheduled.insert((moment(Anchor::ScheduledAt, place, mark), place));
            self.finished.insert((moment(Anchor::FinishedAt, place, mark), place));
        } else {
            self.live[mark.state() as usize].insert(place);
        }
    }

    pub(super) fn remove(&mut self, place: Place, mark: Mark) {
        if mark.state().is_terminal() {
            self.scheduled.remove(&(moment(Anchor::ScheduledAt, place, mark), place));
            self.finished.remove(&(moment(Anchor::FinishedAt, place, mark), place));
        } else {
            self.live[mark.state() as usize].remove(&place);
        }
    }

    /// The live ones in that state.
    pub(super) fn live(&self, state: State) -> &BTreeSet<Place> {
        &self.live[state as usize]
    }

    /// The ended ones by that moment; nothing if there are none, or if the order is that of their age.
    pub(super) fn ended(&self, anchor: Anchor) -> Option<&Order> {
        let order = match anchor {
            Anchor::CreatedAt => return None,
            Anchor::ScheduledAt => &self.scheduled,
            Anchor::FinishedAt => &self.finished,
        };
        Some(order).filter(|order| !order.is_empty())
    }
}

impl<'h> FromIterator<(&'h Place, &'h Mark)> for Orders {
    fn from_iter<I: IntoIterator<Item = (&'h Place, &'h Mark)>>(holders: I) -> Orders {
        let mut orders = Orders::default();
        holders.into_iter().for_each(|(place, mark)| orders.insert(*place, *mark));
        orders
    }
}

/// Where a period begins, as core says: at the end of one without length.
fn moment(anchor: Anchor, place: Place, mark: Mark) -> Timestamp {
    let period = Some(Duration::ZERO);
    let watch = Watch { states: StateSet::ALL, period, period_from: anchor, every_live: false };
    watch.window_end(mark.holder(place)).unwrap_or(Timestamp::MAX)
}
