//! Entries to which something happens by itself.

use std::collections::{BTreeMap, BTreeSet};

use hapax_core::Timestamp;
use hapax_store::EntryKey;

/// Entries by the moment at which they are due.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DueEntries {
    by_time: BTreeSet<(Timestamp, EntryKey)>,
    by_key: BTreeMap<EntryKey, Timestamp>,
}

impl DueEntries {
    /// Says when an entry is due, if ever.
    pub(crate) fn set(&mut self, key: &EntryKey, at: Option<Timestamp>) {
        let before = match at {
            Some(at) => self.by_key.insert(key.clone(), at),
            None => self.by_key.remove(key),
        };
        if let Some(before) = before {
            self.by_time.remove(&(before, key.clone()));
        }
        self.by_time.extend(at.map(|at| (at, key.clone())));
    }

    /// At most so many that are due, the most overdue first.
    pub(crate) fn due(&self, now: Timestamp, limit: usize) -> Vec<EntryKey> {
        self.by_time.iter().take_while(|(at, _)| *at <= now).take(limit).map(|(_, key)| key.clone()).collect()
    }

    /// When the next entry is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }
}
