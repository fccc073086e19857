//! Pages of the log that are counted from its newest event.

use std::sync::Arc;

use hapax_core::Timestamp;

use super::place::Place;
use super::{Aspect, EventLog, EventQuery, Notice};

/// How many events one look at the ring goes through, so that a reader does not hold up those who write.
const SCAN_MAX: usize = 1000;

/// A page of the newest events.
#[derive(Debug, Clone, PartialEq)]
pub struct NewestEvents {
    /// What happened, newest first.
    pub events: Vec<Notice>,
    /// How many of those that the log holds pass the filters.
    pub total: usize,
    /// What is to be asked after for what happens from now on.
    pub cursor: String,
}

impl EventLog {
    /// What passes the filters, newest first, without the first few. Where the query says to begin has no meaning here.
    pub(crate) fn newest(&self, query: &EventQuery, skipped: usize) -> NewestEvents {
        let (mut events, mut total) = (Vec::new(), 0);
        let (mut below, cursor) = {
            let ring = self.ring();
            let newest = ring.newest();
            (newest + 1, ring.cursor(Place::after(newest), Timestamp::EPOCH).to_string())
        };
        loop {
            let ring = self.ring();
            let mut seen = 0;
            for event in ring.before(below).take(SCAN_MAX) {
                seen += 1;
                below = event.seq;
                for aspect in [Aspect::Fact, Aspect::Step] {
                    if event.aspects().all(|told| told != aspect) || !query.asks_for(event, aspect) {
                        continue;
                    }
                    if total >= skipped && events.len() < query.limit {
                        events.push(Notice { event: Arc::clone(event), aspect });
                    }
                    total += 1;
                }
            }
            if seen < SCAN_MAX {
                return NewestEvents { events, total, cursor };
            }
        }
    }
}
