//! What the operations of one group changed, written at its end: each row once, in the order of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hapax_core::{QueueName, State};
use hapax_store::{EntryKey, Revision};
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::Fault;
use crate::cache::Cache;
use crate::entry;
use crate::index::Index;
use crate::memo::{self, KeptMemo};
use crate::queue;
use crate::row::{Saver, Seq, Stored};

/// The changes that are not in the tables yet.
#[derive(Debug, Default)]
pub(crate) struct Group {
    slots: FxHashMap<Seq, Slot>,
    pub(crate) memos: FxHashMap<Seq, KeptMemo>,
    pub(crate) forgotten_memos: Vec<Seq>,
    /// Queues that are new, or were paused or resumed.
    pub(crate) queues: BTreeSet<QueueName>,
    /// What entries say by now.
    pub(crate) entries: BTreeMap<EntryKey, Revision>,
}

/// One job that changed.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// What it is; nothing if it was removed.
    pub(crate) after: Option<Arc<Stored>>,
    /// Whether the tables do not have it yet.
    fresh: bool,
    /// Whether the row of `jobs` changed, and not just the one of `status`.
    body_changed: bool,
}

impl Group {
    pub(crate) fn get(&self, seq: Seq) -> Option<&Slot> {
        self.slots.get(&seq)
    }

    /// Notes a change; gives back what was noted before.
    pub(crate) fn touch(
        &mut self,
        seq: Seq,
        before: Option<&Stored>,
        after: Option<Arc<Stored>>,
    ) -> Option<Slot> {
        let body_changed = before.zip(after.as_deref()).is_some_and(|(before, after)| {
            !Arc::ptr_eq(&before.job.spec, &after.job.spec) || before.job.key != after.job.key
        });
        if let Some(slot) = self.slots.get_mut(&seq) {
            let previous = slot.clone();
            slot.after = after;
            slot.body_changed |= body_changed;
            return Some(previous);
        }
        self.slots.insert(seq, Slot { after, fresh: before.is_none(), body_changed });
        None
    }

    /// Takes a note back.
    pub(crate) fn restore(&mut self, seq: Seq, previous: Option<Slot>) {
        match previous {
            Some(slot) => drop(self.slots.insert(seq, slot)),
            None => drop(self.slots.remove(&seq)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Group { slots, memos, forgotten_memos, queues, entries } = self;
        let is_empty = slots.is_empty() && memos.is_empty() && forgotten_memos.is_empty();
        is_empty && queues.is_empty() && entries.is_empty()
    }

    /// Writes everything, and leaves in the cache what will be asked for.
    pub(crate) fn write(
        &mut self,
        db: &Connection,
        saver: &mut Saver<'_>,
        index: &Index,
        cache: &mut Cache,
    ) -> Result<(), Fault> {
        for name in std::mem::take(&mut self.queues) {
            queue::write(db, index, &name)?;
        }
        for (key, revision) in std::mem::take(&mut self.entries) {
            entry::write(db, &key, &revision)?;
        }
        let mut slots: Vec<(Seq, Slot)> = self.slots.drain().collect();
        slots.sort_unstable_by_key(|(seq, _)| *seq);
        for (seq, slot) in slots {
            write_slot(saver, seq, &slot)?;
            match slot.after {
                Some(stored) if is_needed_soon(&stored, index) => cache.insert(stored),
                _ => cache.remove(seq),
            }
        }
        for seq in self.forgotten_memos.drain(..) {
            memo::delete(db, seq)?;
        }
        let mut memos: Vec<(Seq, KeptMemo)> = self.memos.drain().collect();
        memos.sort_unstable_by_key(|(seq, _)| *seq);
        memos.iter().try_for_each(|(seq, memo)| memo::insert(db, *seq, memo))
    }
}

/// Behind so many others, a job that waits is not claimed soon.
const SHORT_LINE: usize = 4096;

/// Keeping what nobody asks for costs more than reading it again: it has to be freed when it is cold.
fn is_needed_soon(stored: &Stored, index: &Index) -> bool {
    match stored.job.state() {
        State::Active => true,
        State::Available => index.lines.len(&stored.job.spec.queue) <= SHORT_LINE,
        State::Scheduled
        | State::Pending
        | State::Retryable
        | State::Completed
        | State::Cancelled
        | State::Discarded => false,
    }
}

fn write_slot(saver: &mut Saver<'_>, seq: Seq, slot: &Slot) -> Result<(), Fault> {
    match (&slot.after, slot.fresh) {
        (Some(stored), true) => saver.insert(stored),
        (Some(stored), false) => {
            if slot.body_changed {
                saver.update_body(stored)?;
            }
            saver.update_status(stored)
        }
        (None, true) => Ok(()),
        (None, false) => saver.delete(seq),
    }
}
