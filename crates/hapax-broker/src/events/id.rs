//! The name of an event, which is also a place in the log.

use std::fmt;

use hapax_core::webhook::Sequence;
use hapax_core::{JobId, Timestamp};

use super::Aspect;
use super::place::Place;

/// A UUID of version 7 whose random bits are the number of the run and the place in the log: unique, sortable by
/// time, and a cursor that needs no look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventId([u8; 16]);

const PREFIX: &str = "evt_";

/// A random number for one run of the server, of the 18 bits that a UUID leaves beside the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run(u32);

impl Run {
    pub(super) fn new(random: [u8; 4]) -> Run {
        Run(u32::from_ne_bytes(random) & 0x3_ffff)
    }
}

impl EventId {
    pub(super) fn new(at: Timestamp, run: Run, place: Place) -> EventId {
        // The version and the variant cover the upper 4 bits of the first byte and the upper 2 of the third.
        let [.., high] = (run.0 >> 14).to_be_bytes();
        let [.., middle] = (run.0 >> 6).to_be_bytes();
        let [.., low] = (run.0 & 0x3f).to_be_bytes();
        let [_, s @ ..] = place.number().to_be_bytes();
        let bits = [high, middle, low, s[0], s[1], s[2], s[3], s[4], s[5], s[6]];
        EventId(*JobId::new(at, bits).bytes())
    }

    /// The name of an event that is told without standing in the log. Its lowest bit is left to its aspect.
    pub(crate) fn of_place(at: Timestamp, sequence: Sequence) -> EventId {
        let [m0, m1, m2, m3] = sequence.mark.to_be_bytes();
        let [.., n0, n1, n2, n3, n4, n5] = (sequence.number << 1).to_be_bytes();
        EventId(*JobId::new(at, [m0, m1, m2, m3, n0, n1, n2, n3, n4, n5]).bytes())
    }

    /// The run and the place.
    pub(super) fn place(self) -> (Run, Place) {
        let [.., a, b, c, s0, s1, s2, s3, s4, s5, s6] = self.0;
        let run = u32::from(a & 0x0f) << 14 | u32::from(b) << 6 | u32::from(c & 0x3f);
        (Run(run), Place::from_number(u64::from_be_bytes([0, s0, s1, s2, s3, s4, s5, s6])))
    }

    /// The name of the same event in that aspect.
    pub(super) fn of(self, aspect: Aspect) -> EventId {
        let [head @ .., last] = self.0;
        // The lowest bit of a place is its aspect.
        let last = if aspect == Aspect::Fact { last | 1 } else { last & !1 };
        let mut bytes = [last; 16];
        bytes[..15].copy_from_slice(&head);
        EventId(bytes)
    }

    /// When it was made, or nothing if it is the cursor of a log without events.
    pub(super) fn at(self) -> Option<Timestamp> {
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&self.0[..6]);
        let millis = i64::from_be_bytes(millis);
        (millis > 0).then(|| Timestamp::from_millis(millis))
    }

    /// Reads what it is shown as.
    pub(super) fn parse(text: &str) -> Option<EventId> {
        let id: JobId = text.strip_prefix(PREFIX)?.parse().ok()?;
        Some(EventId(*id.bytes()))
    }

    /// The 16 bytes of the UUID.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        JobId::from_bytes(self.0).map_or(Err(fmt::Error), |id| id.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_place_and_keeps_its_text() {
        for (random, seq) in [([0; 4], 0), ([0xff; 4], (1 << 56) - 1), ([0xa5, 0x5a, 0x33, 0x12], 42)] {
            let run = Run::new(random);
            let (at, place) = (Timestamp::from_millis(1_800_000_000_000), Place::from_number(seq));
            let id = EventId::new(at, run, place);
            assert_eq!((id.place(), id.at()), ((run, place), Some(at)));
            assert_eq!(EventId::parse(&id.to_string()), Some(id));
        }
    }

    #[test]
    fn both_names_of_an_event_tell_its_number() {
        let (at, run) = (Timestamp::from_millis(5), Run::new([7; 4]));
        let [step, fact] = [Aspect::Step, Aspect::Fact].map(|aspect| Place::new(9, aspect));
        let id = EventId::new(at, run, fact);
        assert_eq!(id.of(Aspect::Step), EventId::new(at, run, step));
        assert_eq!(id.of(Aspect::Step).of(Aspect::Fact), id);
        assert_eq!(EventId::new(Timestamp::EPOCH, run, fact).at(), None);
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in ["", "evt_", "42", "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f", "evt_x", "evt_é"] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
