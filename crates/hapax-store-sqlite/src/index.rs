//! What is looked up at random, kept in memory: ids, keys, lines, timers, successors, orders, dead letters, counts, memos.
//!
//! Everything here follows from the stored jobs by [`Facts::of`]. The writer changes it while it applies an
//! operation, the start of the program fills it by one scan, and both go through [`Index::replace`].

mod dead_letters;
mod due_entries;
mod facts;
mod held;
mod keys;
mod known;
pub(crate) mod lines;
mod memos;
mod orders;
mod places;
mod successors;
mod timers;
mod visible;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use hapax_core::{JobId, QueueName, Timestamp};
use hapax_store::{EntryKey, QueueFacts, Written, limit};

pub(crate) use dead_letters::Listed;
pub(crate) use due_entries::DueEntries;
pub(crate) use facts::Facts;
pub(crate) use held::HeldPart;
pub(crate) use keys::Place;
pub(crate) use known::{Counting, KnownHolder, Wanted};
pub(crate) use lines::Lines;
pub(crate) use memos::{KnownMemo, Memos};
pub(crate) use orders::Orders;
pub(crate) use places::Places;
pub(crate) use successors::Successors;
pub(crate) use timers::Timers;
pub(crate) use visible::{Queue, Visible};

use crate::row::Seq;

/// All indexes. The writer owns them; readers share the visible part.
#[derive(Debug, Default)]
pub(crate) struct Index {
    visible: Arc<RwLock<Visible>>,
    pub(crate) lines: Lines,
    pub(crate) timers: Timers,
    pub(crate) successors: Successors,
    pub(crate) orders: Orders,
    pub(crate) memos: Memos,
    pub(crate) due_entries: DueEntries,
}

impl Index {
    /// The part that readers share.
    pub(crate) fn visible(&self) -> Arc<RwLock<Visible>> {
        Arc::clone(&self.visible)
    }

    /// A job changed, came or went.
    pub(crate) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        write(&self.visible).replace(before, after);
        self.lines.replace(before.map(Facts::stand), after.map(Facts::stand));
        self.timers.replace(before, after);
        self.successors.replace(before, after);
        self.orders.replace(before, after);
    }

    /// A look at the part that readers share. It is a lock, so several questions share one look.
    pub(crate) fn look(&self) -> RwLockReadGuard<'_, Visible> {
        read(&self.visible)
    }

    pub(crate) fn seq_of(&self, id: JobId) -> Option<Seq> {
        self.look().seq_of(id)
    }

    /// Makes the queue unless it is there; true if it was not.
    pub(crate) fn make_queue(&mut self, name: &QueueName, now: Timestamp) -> bool {
        if self.look().queue(name).is_some() {
            return false;
        }
        write(&self.visible).put_queue(name.clone(), Queue::new(now));
        true
    }

    pub(crate) fn forget_queue(&mut self, name: &QueueName) {
        write(&self.visible).forget_queue(name);
    }

    /// Restores a queue as it was stored.
    pub(crate) fn put_queue(&mut self, name: QueueName, queue: Queue) {
        write(&self.visible).put_queue(name, queue);
    }

    pub(crate) fn set_paused(&mut self, name: &QueueName, paused: bool, now: Timestamp) -> QueueFacts {
        write(&self.visible).set_paused(name, paused, now)
    }

    pub(crate) fn queue_facts(&self, name: &QueueName) -> Option<QueueFacts> {
        self.look().queue_facts(name)
    }

    /// Whether the queue is there and gives out jobs.
    pub(crate) fn gives_jobs(&self, name: &QueueName) -> bool {
        self.look().queue(name).is_some_and(|queue| !queue.paused)
    }

    /// What follows from what an entry says.
    pub(crate) fn note_entry(&mut self, key: &EntryKey, written: Option<&Written>) {
        self.due_entries.set(key, written.and_then(|written| written.due_at));
        if let Some(queue) = limit::limited_queue(key) {
            self.lines.set_limited(queue, written.is_some());
        }
    }

    pub(crate) fn clear(&mut self) {
        *write(&self.visible) = Visible::default();
        let visible = Arc::clone(&self.visible);
        *self = Index { visible, ..Index::default() };
    }
}

/// For a moment. A panic of the writer stops the engine, so a poisoned lock is never served from for long.
pub(crate) fn read(visible: &RwLock<Visible>) -> RwLockReadGuard<'_, Visible> {
    visible.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(visible: &RwLock<Visible>) -> RwLockWriteGuard<'_, Visible> {
    visible.write().unwrap_or_else(PoisonError::into_inner)
}
