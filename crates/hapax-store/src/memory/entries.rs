//! Entries by name, and by what is due.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use hapax_core::Timestamp;
use hapax_core::limit::LimitKey;

use crate::{Entry, EntryKey, EntryPage, EntryQuery, Register, Revision, Written};

/// See above.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    by_key: BTreeMap<EntryKey, Written>,
    timers: BTreeSet<(Timestamp, EntryKey)>,
}

impl Entries {
    pub(crate) fn get(&self, key: &EntryKey) -> Option<&Written> {
        self.by_key.get(key)
    }

    /// Writes an entry; gives back what it said.
    pub(crate) fn put(&mut self, key: EntryKey, revision: Revision) -> Revision {
        let before = match revision {
            Some(written) => {
                self.timers.extend(written.due_at.map(|at| (at, key.clone())));
                self.by_key.insert(key.clone(), written)
            }
            None => self.by_key.remove(&key),
        };
        let is_due_as_before =
            |at: Timestamp| self.by_key.get(&key).is_some_and(|written| written.due_at == Some(at));
        if let Some(at) = before.as_ref().and_then(|before| before.due_at)
            && !is_due_as_before(at)
        {
            self.timers.remove(&(at, key));
        }
        before
    }

    /// What is due, the most overdue first.
    pub(crate) fn due(&self, now: Timestamp, limit: usize) -> Vec<EntryKey> {
        self.timers.iter().take_while(|(at, _)| *at <= now).take(limit).map(|(_, key)| key.clone()).collect()
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Rate limits of which something is remembered, after that one.
    pub(crate) fn limits_after(&self, after: Option<&LimitKey>) -> impl Iterator<Item = LimitKey> {
        let from = after.map_or("", |after| after.as_str());
        let keys =
            self.by_key.range((Bound::Excluded(EntryKey::new(Register::Limit, from)), Bound::Unbounded));
        let limits = keys.take_while(|(key, _)| key.register == Register::Limit);
        limits.filter_map(|(key, _)| LimitKey::parse_any(&key.name).ok())
    }

    pub(crate) fn page(&self, query: &EntryQuery) -> EntryPage {
        let EntryQuery { register, prefix, after, limit } = query;
        let key = |name: &Arc<str>| EntryKey { register: *register, name: Arc::clone(name) };
        let begins =
            |(key, _): &(&EntryKey, &Written)| key.register == *register && key.name.starts_with(&**prefix);
        let all = || self.by_key.range(key(prefix)..).take_while(begins);
        let from = match after {
            Some(after) => Bound::Excluded(key(after.max(prefix))),
            None => Bound::Included(key(prefix)),
        };
        let mut rest = self.by_key.range((from, Bound::Unbounded)).take_while(begins);
        let shown = rest.by_ref().take(*limit);
        let entries =
            shown.map(|(key, written)| Entry { key: key.clone(), written: written.clone() }).collect();
        EntryPage { entries, has_more: rest.next().is_some(), total: all().count() as u64 }
    }
}
