//! What was answered, and what was not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use e2e::Answer;

use crate::strategy::Target;

/// Everything the clients know together.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) answered: AtomicUsize,
    pages: Mutex<BTreeMap<Target, Page>>,
    outcomes: Mutex<BTreeSet<String>>,
}

/// What is known about one key.
#[derive(Debug, Default, Clone)]
pub(crate) struct Page {
    /// The jobs that were named, with how often each was said to stand for another or against it.
    pub(crate) turned_away: BTreeMap<String, u64>,
    /// The jobs that were named since the last crash.
    pub(crate) touched: BTreeSet<String>,
    /// Requests without an answer.
    pub(crate) unknown: u64,
}

impl Book {
    pub(crate) fn pages(&self) -> MutexGuard<'_, BTreeMap<Target, Page>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn unanswered(&self, target: Target) {
        self.pages().entry(target).or_default().unknown += 1;
    }

    pub(crate) fn answered(&self, target: Target, answer: &Answer) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let (outcome, id) = match answer.status {
            409 => {
                let refusal = answer.is_refusal(409, "duplicate");
                ("rejected", refusal.text("/error/details/existing_job_id").to_owned())
            }
            200 | 201 => (answer.text("/outcome"), answer.id()),
            _ => panic!("{}: {}", answer.status, answer.body),
        };
        let is_new = matches!(outcome, "created" | "replaced");
        assert_eq!(answer.status == 201, is_new, "{}", answer.body);
        let mut pages = self.pages();
        let page = pages.entry(target).or_default();
        page.touched.insert(id.clone());
        *page.turned_away.entry(id).or_default() += u64::from(!is_new);
        drop(pages);
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(outcome.to_owned());
    }

    #[track_caller]
    pub(crate) fn every_outcome_was_seen(&self) {
        let seen = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in ["created", "existing", "replaced", "updated", "rejected"] {
            assert!(seen.contains(outcome), "nothing was ever {outcome}: the run tested less than it says");
        }
        let unknown: u64 = self.pages().values().map(|page| page.unknown).sum();
        assert!(unknown > 0, "every request was answered: no kill came in the midst of one");
    }
}
