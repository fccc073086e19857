//! The log: events in the order of the commits, and pages of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_core::Timestamp;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::event::Unnumbered;
use super::id::Run;
use super::place::Place;
use super::ring::{Ring, Start};
use super::switchboard::Switchboard;
use super::{EventId, EventPage, EventQuery, EventTail, Notice};
use crate::Observer;

/// How many events one look at the ring goes through, so that a reader with rare matches does not hold up those
/// who write.
const SCAN_MAX: usize = 1000;

/// How many calls may have handed in their events before an earlier one has. Tasks that hear of their answers run at
/// once, so if ever so many pile up, one is stuck, and memory counts for more than its place in the order.
const EARLY_MAX: usize = 10_000;

/// How long one call may hold up the events of those after it. On a store that servers share it may wait for seconds
/// until somebody's transaction lets go of a key; whoever listens to other jobs must not wait with it.
const LATE_MAX: Duration = Duration::from_millis(500);

/// The log of what became durable.
#[derive(Debug)]
pub(crate) struct EventLog {
    observer: Arc<dyn Observer>,
    turns: Mutex<Turns>,
    /// Called when events that had waited for their turn are written.
    caught_up: Notify,
    pub(super) ring: Mutex<Ring>,
    pub(super) switchboard: Switchboard,
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
    /// Which call was seen to hold up others, and since when.
    held_up: Option<(u64, Timestamp)>,
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
        let ring = Mutex::new(Ring::new(Run::new(random)));
        EventLog {
            observer,
            turns: Mutex::default(),
            caught_up: Notify::new(),
            ring,
            switchboard: Switchboard::default(),
        }
    }

    /// Makes a call to the store, and gives its events their place.
    pub(crate) fn in_turn<T>(self: &Arc<Self>, call: impl FnOnce() -> T) -> (Ticket, T) {
        let mut turns = self.turns();
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

    /// Waits until everything that was handed in before is written: who asks for events after an answer looks for those of
    /// its own request. It waits as long as one call may hold up others, and as long again for the chores to see that.
    pub(crate) async fn catch_up(&self) {
        let Some(newest) = self.turns().early.last_key_value().map(|(number, _)| *number) else { return };
        let written = async {
            loop {
                let called = self.caught_up.notified();
                if self.turns().due > newest {
                    return;
                }
                called.await;
            }
        };
        // Whoever has waited that long is given what there is.
        timeout(LATE_MAX * 2, written).await.unwrap_or_default();
    }

    /// A part of the log.
    pub(crate) fn page(&self, query: &EventQuery) -> EventPage {
        let Start { mut known, gap } = match &query.after {
            Some(text) => self.ring().resume(EventId::parse(text)),
            None => self.ring().oldest(),
        };
        let mut gap = gap.is_some();
        let mut events = Vec::new();
        loop {
            let ring = self.ring();
            // More may have been written since the last look than the ring holds.
            gap |= known < Place::after(ring.before_oldest());
            let mut seen = 0;
            let page = |known, events, has_more| {
                let cursor = ring.cursor(known, Timestamp::EPOCH).to_string();
                EventPage { events, cursor, has_more, gap }
            };
            for event in ring.after(known).take(SCAN_MAX) {
                seen += 1;
                let already = known;
                for aspect in event.aspects().filter(|aspect| Place::new(event.seq, *aspect) > already) {
                    if query.asks_for(event, aspect) {
                        if events.len() == query.limit {
                            return page(known, events, true);
                        }
                        events.push(Notice { event: Arc::clone(event), aspect });
                    }
                    known = Place::new(event.seq, aspect);
                }
                known = Place::after(event.seq);
            }
            if seen < SCAN_MAX {
                return page(known, events, false);
            }
        }
    }

    /// The events after the one of that number, oldest first.
    pub(crate) fn tail(&self, seq: u64, max: usize) -> EventTail {
        let ring = self.ring();
        let events = ring.after(Place::after(seq)).take(max.min(SCAN_MAX)).cloned().collect();
        EventTail { missed: ring.before_oldest().saturating_sub(seq), events }
    }

    fn take_turn(&self, number: u64, events: Vec<Unnumbered>) {
        let mut turns = self.turns();
        match number.cmp(&turns.due) {
            // Its turn was given up.
            Ordering::Less => self.write(events),
            Ordering::Equal => {
                self.write(events);
                turns.due += 1;
            }
            Ordering::Greater => {
                turns.early.insert(number, events);
                if turns.early.len() > EARLY_MAX {
                    turns.give_up_on_late_ones();
                }
            }
        }
        self.write_early(&mut turns);
    }

    /// Gives up on a call that has held up others for [`LATE_MAX`]. The chores look again and again.
    pub(crate) fn overtake(&self, now: Timestamp) {
        let mut turns = self.turns();
        if turns.are_held_up(now) {
            turns.give_up_on_late_ones();
            self.write_early(&mut turns);
        }
    }

    fn write_early(&self, turns: &mut Turns) {
        let due = turns.due;
        while let Some(events) = turns.next_early() {
            self.write(events);
        }
        if turns.due > due {
            self.caught_up.notify_waiters();
        }
    }

    fn write(&self, events: Vec<Unnumbered>) {
        if events.is_empty() {
            return;
        }
        let mut ring = self.ring();
        for event in events {
            ring.push(event);
        }
        drop(ring);
        self.switchboard.written();
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns {
    fn give_up_on_late_ones(&mut self) {
        if let Some((first, _)) = self.early.first_key_value() {
            self.due = *first;
        }
    }

    /// Whether the call whose turn it is was seen to hold up others before, for too long.
    fn are_held_up(&mut self, now: Timestamp) -> bool {
        if self.early.is_empty() {
            self.held_up = None;
            return false;
        }
        match self.held_up {
            Some((number, since)) if number == self.due => now.since(since) >= LATE_MAX,
            _ => {
                self.held_up = Some((self.due, now));
                false
            }
        }
    }

    fn next_early(&mut self) -> Option<Vec<Unnumbered>> {
        let events = self.early.remove(&self.due)?;
        self.due += 1;
        Some(events)
    }
}

impl Ticket {
    /// Hands in the events. They are counted at once, and written as soon as all earlier calls have handed in theirs.
    pub(crate) fn publish(mut self, events: Vec<Unnumbered>) {
        for Unnumbered { at, queue, news, traced: _ } in &events {
            self.log.observer.event(*at, queue.as_ref(), news);
        }
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
