//! Places in line.

use hapax_core::Priority;
use hapax_store::lines;

use crate::row::{Seq, Turn};

/// A place in line in one word: the higher priority first, then the lower turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// A million turns a second for a thousand years.
const TURN_BITS: u32 = 56;
const TURN_MAX: u64 = (1 << TURN_BITS) - 1;

impl Rank {
    pub(super) fn new(priority: Priority, turn: Turn) -> Rank {
        let band = i8::MAX.abs_diff(priority.get());
        Rank(u64::from(band) << TURN_BITS | turn.unsigned_abs())
    }
}

/// A place and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) Rank, pub(crate) Seq);

impl lines::Place for Place {
    fn turn(self) -> u64 {
        self.0.0 & TURN_MAX
    }

    fn at(self, turn: u64) -> Place {
        Place(Rank(self.0.0 & !TURN_MAX | turn.min(TURN_MAX)), Seq::MIN)
    }
}

/// The available jobs of each queue, next one first.
pub(crate) type Lines = lines::Lines<Place>;

#[cfg(test)]
mod tests {
    use hapax_store::lines::Place as _;

    use super::*;

    #[test]
    fn a_higher_priority_goes_first_then_the_lower_turn() {
        let rank = |priority, turn| Rank::new(Priority::new(priority).unwrap(), turn);
        assert!(rank(100, 9) < rank(99, 1));
        assert!(rank(0, 9) < rank(-1, 1));
        assert!(rank(-100, 1) < rank(-100, 2));
        let place = Place(rank(5, 9), 3);
        assert!(place.at(0) < Place(rank(5, 1), 0) && place.at(0) > Place(rank(6, 9), 0));
        assert!(place.band().contains(&place) && !place.band().contains(&Place(rank(4, 9), 3)));
        assert_eq!((place.turn(), place.at(7)), (9, Place(rank(5, 7), Seq::MIN)));
    }
}
