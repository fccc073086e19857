//! The suite that every engine must pass.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

use std::sync::Arc;

use hapax_core::Rules;
use hapax_store::suite::{Effort, Harness, wait};
use hapax_store::{Store, store_suite};
use hapax_store_sqlite::{Settings, SqliteStore};
use tempfile::TempDir;

struct Sqlite {
    folder: TempDir,
}

impl Harness for Sqlite {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        // A short log, so that it starts over many times.
        let settings = Settings { log_bytes: 1 << 18, ..Settings::new(rules, Arc::new(|_| ())) };
        Arc::new(SqliteStore::open_with(self.folder.path(), settings).unwrap())
    }

    fn reopen(&self, store: Arc<dyn Store>, rules: Rules) -> Arc<dyn Store> {
        wait(store.close()).unwrap();
        self.open(rules)
    }

    fn effort(&self) -> Effort {
        // Each step waits for the disk.
        Effort { cases: 60, rounds: 30, ..Effort::default() }.from_environment()
    }
}

store_suite!(Sqlite { folder: tempfile::tempdir().unwrap() });
