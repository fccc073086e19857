//! Answers that were given before.

use std::collections::{BTreeSet, HashMap};

use hapax_core::Timestamp;

use crate::{Answer, MEMO_KEPT, Memo, MemoKey, Remembered};

/// Remembered answers by key and by age.
#[derive(Debug, Default)]
pub(crate) struct Memos {
    by_key: HashMap<MemoKey, Kept>,
    by_age: BTreeSet<(Timestamp, MemoKey)>,
}

/// An answer that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Since when.
    pub since: Timestamp,
    /// Of which request.
    pub fingerprint: [u8; 32],
    /// The answer.
    pub reply: Remembered,
}

/// What is known about a request.
pub(super) enum Recalled {
    /// It was answered like this.
    Same(Remembered),
    /// Another one used its name.
    Other,
    /// It is new.
    Nothing,
}

impl Memos {
    pub(super) fn recall(&self, memo: &Memo, now: Timestamp) -> Recalled {
        match self.by_key.get(&memo.key).filter(|kept| now < kept.since + MEMO_KEPT) {
            Some(kept) if kept.fingerprint == memo.fingerprint => Recalled::Same(kept.reply.clone()),
            Some(_) => Recalled::Other,
            None => Recalled::Nothing,
        }
    }

    pub(super) fn keep(&mut self, memo: Memo, answer: &Answer, now: Timestamp) {
        let Memo { key, fingerprint, render } = memo;
        self.lay(key, Kept { since: now, fingerprint, reply: render(answer) });
    }

    pub(crate) fn lay(&mut self, key: MemoKey, kept: Kept) {
        self.by_age.insert((kept.since, key.clone()));
        let since = kept.since;
        if let Some(old) = self.by_key.insert(key.clone(), kept)
            && old.since != since
        {
            self.by_age.remove(&(old.since, key));
        }
    }

    pub(crate) fn get(&self, key: &MemoKey) -> Option<&Kept> {
        self.by_key.get(key)
    }

    pub(super) fn forget(&mut self, now: Timestamp) {
        while let Some((since, _)) = self.by_age.first()
            && *since + MEMO_KEPT <= now
            && let Some((_, key)) = self.by_age.pop_first()
        {
            self.by_key.remove(&key);
        }
    }
}
