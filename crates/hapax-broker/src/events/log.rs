//! The log: events in the order of the commits, and pages of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event::Unnumbered;
use super::id::Run;
use super::ring::Ring;
use super::{EventId, EventPage, EventQuery};
use crate::Observer;

/// How many events one look at the ring goes through, so that a reader with rare matches does not hold up those
/// who write.
const SCAN_MAX: usize = 1000;

/// How many calls may have handed in their events before an earlier one has. Tasks that hear of their answers run at
/// once, so if ever so many pile up, one is stuck, and memory counts for more than its place in the order.
const EARLY_MAX: usize = 10_000;

/// The log of what became durable.
#[derive(Debug)]
pub(crate) struct EventLog {
    observer: Arc<dyn Observer>,
    turns: Mutex<Turns>,
    ring: Mutex<Ring>,
}

/// Puts events into the order in which the store was called. The answers come in that order too, but each wakes
/// its own task, and tasks run in any order; a job must not be seen to start before it is seen to be enqueued
/// (Events 9.2).
///
/// This holds as long as the store takes in each call when it is made. A store whose inbox is full (that of SQLite
/// holds 8192 requests) takes further calls in later, when there is room: their places were given before, and the
/// order of their events may then differ from that of their commits.
#[derive(Debug, Default)]
struct Turns {
    given: u64,
    due: u64,
    early: BTreeMap<u64, Vec<Unnumbered>>,
}

/// A place in the order. Dropped unused, it lets the next ones pass.
#[derive(Debug)]
pub(crate) struct Ticket {
    log: Arc<EventLog>,
    number: u64,
    events: Vec<Unnumbered>,
}

impl EventLog {
    /// An empty log; `random` tells this run of the server from others.
    pub(crate) fn new(random: [u8; 4], observer: Arc<dyn Observer>) -> EventLog {
        EventLog { observer, turns: Mutex::default(), ring: Mutex::new(Ring::new(Run::new(random))) }
    }

    /// Makes a call to the store, and gives its events their place.
    pub(crate) fn in_turn<T>(self: &Arc<Self>, call: impl FnOnce() -> T) -> (Ticket, T) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = call();
        let number = turns.given;
        turns.given += 1;
        drop(turns);
        (Ticket { log: Arc::clone(self), number, events: Vec::new() }, answer)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.ring().clear();
    }

    /// A part of the log.
    pub(crate) fn page(&self, query: &EventQuery) -> EventPage {
        let start = match &query.after {
            Some(text) => self.ring().resume(EventId::parse(text)),
            None => self.ring().oldest(),
        };
        let mut known = start.known;
        let mut gap = start.gap;
        let mut events = Vec::new();
        loop {
            let ring = self.ring();
            // More may have been written since the last look than the ring holds.
            gap |= known < ring.before_oldest();
            let mut seen = 0;
            for event in ring.after(known).take(SCAN_MAX) {
                seen += 1;
                if query.passes(event) {
                    if events.len() == query.limit {
                        return EventPage {
                            cursor: ring.cursor(known).to_string(),
                            events,
                            has_more: true,
                            gap,
                        };
                    }
                    events.push(event.clone());
                }
                known = event.seq;
            }
            if seen < SCAN_MAX {
                return EventPage { cursor: ring.cursor(known).to_string(), events, has_more: false, gap };
            }
        }
    }

    fn take_turn(&self, number: u64, events: Vec<Unnumbered>) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        match number.cmp(&turns.due) {
            // Its turn was given up.
            Ordering::Less => self.write(events),
            Ordering::Equal => {
                self.write(events);
                turns.due += 1;
            }
            Ordering::Greater => {
                turns.early.insert(number, events);
                turns.give_up_on_late_ones();
            }
        }
        while let Some(events) = turns.next_early() {
            self.write(events);
        }
    }

    fn write(&self, events: Vec<Unnumbered>) {
        if events.is_empty() {
            return;
        }
        let mut ring = self.ring();
        for event in events {
            self.observer.event(ring.push(event));
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    fn give_up_on_late_ones(&mut self) {
        if let (true, Some((first, _))) = (self.early.len() > EARLY_MAX, self.early.first_key_value()) {
            self.due = *first;
        }
    }

    fn next_early(&mut self) -> Option<Vec<Unnumbered>> {
        let events = self.early.remove(&self.due)?;
        self.due += 1;
        Some(events)
    }
}

impl Ticket {
    /// Hands in the events; they are written as soon as all earlier calls have handed in theirs.
    pub(crate) fn publish(mut self, events: Vec<Unnumbered>) {
        self.events = events;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.log.take_turn(self.number, mem::take(&mut self.events));
    }
}

#[cfg(test)]
mod tests;
