//! The events of one channel, and how far each of its listeners has read.
//!
//! A line holds what the log holds of its channel, shared with it: all lines together grow no larger than a few
//! pointers for each event that is kept, however many listen and however slowly they read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Bell, Company, Dropped, EventId, JobEvent};

/// Who reads in a crowd and lags further behind than this goes on with the newest events.
const CROWD_LAG_MAX: usize = 1000;
/// With so many of them.
const CROWD_KEPT: usize = 32;

/// What a reader will never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// So much.
    Counted(Dropped),
    /// Nobody knows how much, if anything at all.
    Uncounted,
}

/// The events of one channel.
#[derive(Debug, Default)]
pub(super) struct Line(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    /// The number of the first event here, in the order of this line. So many were dropped before it.
    first: u64,
    events: VecDeque<Arc<JobEvent>>,
    last_dropped: Option<EventId>,
    /// Whether there is something of which the readers have not been called yet.
    is_due: bool,
    readers: BTreeMap<u64, Reader>,
    /// The readers that have read everything and were not called since. All others read on by themselves: calling them
    /// as well, each time, is what ten thousand of them would cost. In order, so that they can be called some at a time.
    resting: BTreeSet<u64>,
}

#[derive(Debug)]
struct Reader {
    bell: Bell,
    /// The number of the event to read next.
    next: u64,
    /// The first event that was dropped before this one read it.
    lost_from: Option<EventId>,
    /// Whether there may have been events that nobody has counted.
    is_unsure: bool,
}

impl Line {
    /// Lets somebody read what comes from here on.
    pub(super) fn join(&self, number: u64, bell: Bell) {
        let mut held = self.held();
        let next = held.end();
        held.readers.insert(number, Reader { bell, next, lost_from: None, is_unsure: false });
        held.resting.insert(number);
    }

    /// Strikes a reader off; whether nobody is left.
    pub(super) fn leave(&self, number: u64) -> bool {
        let mut held = self.held();
        held.readers.remove(&number);
        held.resting.remove(&number);
        held.readers.is_empty()
    }

    /// Adds an event; whether it is the first since the readers were called.
    pub(super) fn push(&self, event: Arc<JobEvent>) -> bool {
        let mut held = self.held();
        held.events.push_back(event);
        !mem::replace(&mut held.is_due, true)
    }

    /// Drops everything up to the event of that number in the log.
    pub(super) fn drop_through(&self, seq: u64) {
        let held = &mut *self.held();
        let gone = held.events.partition_point(|event| event.seq <= seq);
        held.drop_first(gone);
    }

    /// Drops everything, and leaves out so many that were never here, if it is known how many; whether it is the first
    /// thing to tell since the readers were called.
    pub(super) fn skip(&self, missed: Option<u64>) -> bool {
        let held = &mut *self.held();
        held.drop_first(held.events.len());
        // The newest of those that were never here has no name here.
        held.last_dropped = None;
        match missed {
            Some(missed) => held.first += missed,
            None => held.readers.values_mut().for_each(|reader| reader.is_unsure = true),
        }
        !mem::replace(&mut held.is_due, true)
    }

    /// Whether a reader has read everything.
    pub(super) fn is_read(&self, number: u64) -> bool {
        let held = self.held();
        held.readers.get(&number).is_some_and(|reader| reader.next == held.end() && !reader.is_unsure)
    }

    /// Says that a reader knows everything up to the event of that number in the log, from elsewhere: nothing of that is
    /// lost on it.
    pub(super) fn skip_to(&self, number: u64, seq: u64) {
        let held = &mut *self.held();
        let known = held.events.partition_point(|event| event.seq <= seq);
        let Some(reader) = held.readers.get_mut(&number) else { return };
        reader.next = reader.next.max(held.first + known as u64);
        (reader.lost_from, reader.is_unsure) = (None, false);
    }

    /// What a reader has not read yet, at most so many events, and what it will never read. Its bell rings for the next
    /// one if this was all; if not, it has to read on by itself.
    pub(super) fn read(
        &self,
        number: u64,
        max: usize,
        company: Company,
    ) -> (Option<Lost>, Vec<Arc<JobEvent>>) {
        let Held { first, events, last_dropped, is_due: _, readers, resting } = &mut *self.held();
        let Some(reader) = readers.get_mut(&number) else { return (None, Vec::new()) };
        let (next, mut newest) = (reader.next, *last_dropped);
        reader.next = next.max(*first);
        let mut start = usize::try_from(reader.next - *first).unwrap_or(usize::MAX).min(events.len());
        let lag = events.len() - start;
        let mut oldest = reader.lost_from.take();
        if company == Company::Crowd && lag > CROWD_LAG_MAX {
            // Those that were never here have no name.
            let first_here = events.get(start).filter(|_| next >= *first).map(|event| event.id);
            oldest = oldest.or(first_here);
            start = events.len() - CROWD_KEPT;
            reader.next = *first + start as u64;
            newest = start.checked_sub(1).and_then(|last| events.get(last)).map(|event| event.id);
        }
        let missed = reader.next - next;
        let lost = if mem::take(&mut reader.is_unsure) {
            Some(Lost::Uncounted)
        } else {
            (missed > 0).then_some(Lost::Counted(Dropped { count: missed, oldest, newest }))
        };
        let read: Vec<_> = events.range(start..).take(max).cloned().collect();
        reader.next += read.len() as u64;
        if start + read.len() == events.len() {
            resting.insert(number);
        }
        (lost, read)
    }

    /// Calls readers that rest, from that number on, at most so many; the number to go on with, unless that was all of them.
    pub(super) fn call(&self, from: u64, max: usize) -> Option<u64> {
        let Held { first: _, events: _, last_dropped: _, is_due, readers, resting } = &mut *self.held();
        *is_due = false;
        for _ in 0..max {
            let number = *resting.range(from..).next()?;
            resting.remove(&number);
            readers.get(&number).into_iter().for_each(|reader| reader.bell.ring());
        }
        resting.range(from..).next().copied()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Nothing under the lock can panic half-way, so a poisoned line is still a whole one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// The number of the event that comes next.
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn drop_first(&mut self, count: usize) {
        let Held { first, events, last_dropped, is_due: _, readers, resting: _ } = self;
        let after = *first + count as u64;
        for reader in readers.values_mut().filter(|reader| reader.next < after && reader.lost_from.is_none())
        {
            let index = reader.next.checked_sub(*first).and_then(|index| usize::try_from(index).ok());
            reader.lost_from = index.and_then(|index| events.get(index)).map(|event| event.id);
        }
        if let Some(last) = events.drain(..count).next_back() {
            *last_dropped = Some(last.id);
        }
        *first = after;
    }
}

#[cfg(test)]
mod tests;
