//! Which answers are remembered. The answers themselves stay on disk.

use std::collections::{BTreeMap, HashMap};

use hapax_core::Timestamp;
use hapax_store::{MEMO_KEPT, MemoKey};

use crate::row::Seq;

/// Remembered answers by name and by age.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Memos {
    by_name: HashMap<MemoKey, KnownMemo>,
    by_age: BTreeMap<(Timestamp, Seq), MemoKey>,
}

/// What is known of a remembered answer without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownMemo {
    pub(crate) seq: Seq,
    pub(crate) since: Timestamp,
    pub(crate) fingerprint: [u8; 32],
}

impl Memos {
    /// The answer under that name that is still young enough.
    pub(crate) fn get(&self, name: &MemoKey, now: Timestamp) -> Option<KnownMemo> {
        self.by_name.get(name).copied().filter(|memo| now < memo.since + MEMO_KEPT)
    }

    /// Remembers; gives back the number of the answer that had the name before.
    pub(crate) fn insert(&mut self, name: MemoKey, memo: KnownMemo) -> Option<Seq> {
        self.by_age.insert((memo.since, memo.seq), name.clone());
        let old = self.by_name.insert(name, memo)?;
        self.by_age.remove(&(old.since, old.seq));
        Some(old.seq)
    }

    /// Forgets the answers that are too old; gives back their numbers.
    pub(crate) fn forget(&mut self, now: Timestamp) -> Vec<Seq> {
        let mut forgotten = Vec::new();
        while let Some(oldest) = self.by_age.first_entry()
            && oldest.key().0 + MEMO_KEPT <= now
        {
            let ((_, seq), name) = oldest.remove_entry();
            self.by_name.remove(&name);
            forgotten.push(seq);
        }
        forgotten
    }
}
