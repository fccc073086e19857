//! What every engine must pass: named cases, races, and random sequences against the reference store.
//!
//! An engine's own test file is a [`Harness`] and one line:
//!
//! ```text
//! hapax_store::store_suite!(MyHarness::new());
//! ```
//!
//! It makes one test of each case. `HAPAX_SUITE_CASES` says how many random sequences run, `HAPAX_SUITE_SEED`
//! which ones. At the end of each case the counts are counted again, and the store is opened again and must
//! show what it showed before.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "this is test code: a panic is how it reports")]

mod bench;
mod chances;
mod draft;
mod effort;
mod list;
mod list_beyond;
mod picture;
mod place;
mod race;

mod attempts;
mod batches;
mod bulk;
mod crons;
mod dead_letters;
mod debounce;
mod entries;
mod fidelity;
mod job_key_lines;
mod job_key_merging;
mod job_keys;
mod job_lists;
mod key_races;
mod key_reads;
mod key_removals;
mod leases;
mod ledgers;
mod lifetimes;
mod limit_races;
mod limit_sequences;
mod limits;
mod line_races;
mod line_sequences;
mod lines;
mod memos;
mod operators;
mod order;
mod pains;
mod progress;
mod queue_latest;
mod queue_removals;
mod queues;
mod races;
mod random;
mod reentry;
mod releases;
mod replacing;
mod rooms;
mod share_sequences;
mod shares;
mod strategies;
mod successors;
mod superseding;
mod tenants;
mod time_limits;
mod windows;
mod workflow_promises;
mod workflow_races;
mod workflows;

use std::cell::RefCell;
use std::sync::Arc;

use hapax_core::Rules;

pub use self::effort::Effort;
pub use self::list::run;
use crate::{Reply, Store, StoreError};

/// How to come by one engine's store. Each harness opens one store, on data of its own.
pub trait Harness {
    /// Opens the store, empty.
    fn open(&self, rules: Rules) -> Arc<dyn Store>;

    /// Closes the store and opens it again on the same data. A store that lives in memory stays as it is.
    fn reopen(&self, store: Arc<dyn Store>, rules: Rules) -> Arc<dyn Store>;

    /// How much of the random part the engine can bear.
    fn effort(&self) -> Effort {
        Effort::default()
    }
}

/// How a test comes by a harness.
pub type Open = fn() -> Box<dyn Harness>;

/// Waits for an answer on the calling thread.
pub fn wait<T>(reply: Reply<T>) -> Result<T, StoreError> {
    thread_local! {
        static RUNTIME: RefCell<tokio::runtime::Runtime> = RefCell::new(
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts"),
        );
    }
    RUNTIME.with_borrow(|runtime| runtime.block_on(reply))
}
