//! Where a reader stands in the log.

use super::Aspect;

/// The last thing that a reader knows: an event, in one of its aspects. Places are numbers without a meaning of
/// their own, two for each event, so that the name of a notice can carry one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64);

impl Place {
    pub(super) fn new(seq: u64, aspect: Aspect) -> Place {
        Place(seq << 1 | u64::from(aspect == Aspect::Fact))
    }

    /// The place of a reader that knows all about the event with this number.
    pub(super) fn after(seq: u64) -> Place {
        Place::new(seq, Aspect::Fact)
    }

    pub(super) fn from_number(number: u64) -> Place {
        Place(number)
    }

    pub(super) fn number(self) -> u64 {
        self.0
    }

    /// The number of the event.
    pub(super) fn seq(self) -> u64 {
        self.0 >> 1
    }

    /// The number of the newest event of which the reader knows everything.
    pub(super) fn known_wholly(self) -> u64 {
        // Of an event that is known by its step alone, the fact is still to be told.
        if self.0 & 1 == 1 { self.seq() } else { self.seq().saturating_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_in_the_order_of_telling() {
        let places = [
            Place::after(0),
            Place::new(1, Aspect::Step),
            Place::new(1, Aspect::Fact),
            Place::new(2, Aspect::Step),
        ];
        assert!(places.is_sorted());
        assert_eq!(places.map(Place::seq), [0, 1, 1, 2]);
        assert_eq!(places.map(Place::known_wholly), [0, 0, 1, 1]);
        assert_eq!(places.map(|place| Place::from_number(place.number())), places);
    }
}
