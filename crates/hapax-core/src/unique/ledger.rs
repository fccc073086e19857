//! What a holder turned away.

use std::sync::Arc;

use crate::Timestamp;

/// How many of the newest entries a ledger shows one by one.
pub const RECENT_KEPT: usize = 10;

/// The duplicates that a holder turned away, counted in the commit that turned them away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    count: u64,
    /// Shared: a job is copied often on its way through a commit, and its ledger changes once.
    recent: Arc<[LedgerEntry]>,
}

/// One duplicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// When.
    pub at: Timestamp,
    /// How it was answered, by the name on the wire.
    pub outcome: &'static str,
    /// Which request brought it.
    pub request_id: Option<Arc<str>>,
}

impl Ledger {
    /// A ledger as a store kept it.
    pub fn restored(count: u64, recent: Vec<LedgerEntry>) -> Ledger {
        Ledger { count, recent: recent.into() }
    }

    /// How many there were in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The newest ones, oldest first.
    pub fn recent(&self) -> &[LedgerEntry] {
        &self.recent
    }

    /// When the newest came.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.recent.last().map(|entry| entry.at)
    }

    pub(crate) fn enter(&mut self, entry: LedgerEntry) {
        self.count += 1;
        let forgotten = (self.recent.len() + 1).saturating_sub(RECENT_KEPT);
        self.recent = self.recent[forgotten..].iter().cloned().chain([entry]).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_counts_all_and_shows_the_newest() {
        let mut ledger = Ledger::default();
        for millis in 0..25 {
            let at = Timestamp::from_millis(millis);
            ledger.enter(LedgerEntry { at, outcome: "existing", request_id: None });
        }
        assert_eq!(ledger.count(), 25);
        assert_eq!(ledger.recent().len(), RECENT_KEPT);
        assert_eq!(ledger.recent()[0].at, Timestamp::from_millis(15));
        assert_eq!(ledger.last_at(), Some(Timestamp::from_millis(24)));
    }
}
