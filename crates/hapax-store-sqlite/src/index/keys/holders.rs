//! The holders of one key: nearly always one, sometimes thousands.

use std::collections::BTreeMap;

use hapax_core::unique::Holder;
use hapax_core::{State, Timestamp};

use crate::row::Seq;

/// Holders by age. `Many` has at least two, so that equal sets are equal.
#[derive(Debug, PartialEq)]
pub(super) enum Holders {
    None,
    One(Place, Mark),
    Many(BTreeMap<Place, Mark>),
}

/// Sorted by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) created_at: Timestamp,
    pub(super) seq: Seq,
}

/// What else a policy asks of a holder, in two words: there is one of these for every unique job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    scheduled_at: i64,
    /// The moment in milliseconds above, the state in the lowest three bits.
    finished_at_and_state: i64,
}

const STATE_BITS: u32 = 3;
/// A moment that no timestamp can be, and that can be shifted.
const NEVER: i64 = i64::MIN >> STATE_BITS;

impl Holders {
    /// Adds a holder, or marks it anew.
    pub(super) fn insert(&mut self, place: Place, mark: Mark) {
        match self {
            Holders::None => *self = Holders::One(place, mark),
            Holders::One(same, old) if *same == place => *old = mark,
            Holders::One(other, old) => {
                *self = Holders::Many(BTreeMap::from([(*other, *old), (place, mark)]));
            }
            Holders::Many(holders) => drop(holders.insert(place, mark)),
        }
    }

    pub(super) fn remove(&mut self, place: Place) -> &Holders {
        match self {
            Holders::One(same, _) if *same == place => *self = Holders::None,
            Holders::Many(holders) => {
                holders.remove(&place);
                if holders.len() == 1
                    && let Some((place, mark)) = holders.pop_first()
                {
                    *self = Holders::One(place, mark);
                }
            }
            Holders::None | Holders::One(..) => {}
        }
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Holders::None)
    }

    pub(super) fn newest_first(&self) -> impl Iterator<Item = (Place, Mark)> {
        let (one, many) = match self {
            Holders::None => (None, None),
            Holders::One(place, mark) => (Some((*place, *mark)), None),
            Holders::Many(holders) => (None, Some(holders)),
        };
        one.into_iter().chain(many.into_iter().flatten().rev().map(|(place, mark)| (*place, *mark)))
    }
}

impl Mark {
    pub(super) fn of(holder: Holder) -> Mark {
        let Holder { state, created_at: _, scheduled_at, finished_at } = holder;
        let millis = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::millis);
        Mark {
            scheduled_at: millis(scheduled_at),
            finished_at_and_state: millis(finished_at) << STATE_BITS | i64::from(state as u8),
        }
    }

    fn state(self) -> State {
        let number = self.finished_at_and_state.rem_euclid(1 << STATE_BITS);
        State::ALL.into_iter().find(|state| i64::from(*state as u8) == number).unwrap_or(State::Discarded)
    }

    pub(super) fn has_ended(self) -> bool {
        self.state().is_terminal()
    }

    pub(super) fn holder(self, created_at: Timestamp) -> Holder {
        let moment = |millis: i64| (millis != NEVER).then(|| Timestamp::from_millis(millis));
        Holder {
            state: self.state(),
            created_at,
            scheduled_at: moment(self.scheduled_at),
            finished_at: moment(self.finished_at_and_state >> STATE_BITS),
        }
    }
}
