//! The reference store against the suite: what it is held to besides itself is the suite's own picture of it.
#![cfg(feature = "suite")]

use std::sync::Arc;

use hapax_core::Rules;
use hapax_store::suite::Harness;
use hapax_store::{MemoryStore, Store};

struct MemoryHarness;

impl Harness for MemoryHarness {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        Arc::new(MemoryStore::new(rules))
    }

    fn reopen(&self, store: Arc<dyn Store>, _rules: Rules) -> Arc<dyn Store> {
        store
    }
}

hapax_store::store_suite!(MemoryHarness);
