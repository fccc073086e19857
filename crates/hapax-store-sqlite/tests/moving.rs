//! The suite with a move in the place of every restart: what is carried to another folder behaves as if it had stayed.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hapax_core::{Rules, Timestamp};
use hapax_store::portable::{Batch, ExportId, Occasion, Reader, Seal, export, import};
use hapax_store::suite::{Effort, Harness, wait};
use hapax_store::{Store, store_suite};
use hapax_store_sqlite::{Settings, SqliteSource, SqliteStore, SqliteTarget};
use tempfile::TempDir;

struct Moved {
    home: TempDir,
    /// How often it was moved.
    moves: Mutex<usize>,
}

impl Moved {
    fn new() -> Moved {
        Moved { home: tempfile::tempdir().unwrap(), moves: Mutex::new(0) }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join(self.moves.lock().unwrap().to_string())
    }

    fn open_folder(&self, rules: Rules) -> Arc<dyn Store> {
        let settings = Settings::new(rules, Arc::new(|_| ()));
        Arc::new(SqliteStore::open_with(&self.folder(), Settings { log_bytes: 1 << 16, ..settings }).unwrap())
    }
}

impl Harness for Moved {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        self.open_folder(rules)
    }

    fn reopen(&self, store: Arc<dyn Store>, rules: Rules) -> Arc<dyn Store> {
        wait(store.close()).unwrap();
        let (text, seal) = exported(&self.folder());
        *self.moves.lock().unwrap() += 1;
        let mut target = SqliteTarget::open(&self.folder()).unwrap();
        let mut reader = Reader::begin(&text[..]).unwrap();
        let batch = Batch { lines: 3, ..Batch::default() };
        assert_eq!(import(&mut reader, &mut target, batch, &mut |_| ()).unwrap(), seal);
        drop(target);
        assert_eq!(exported(&self.folder()), (text, seal), "the same again, to the byte");
        self.open_folder(rules)
    }

    fn effort(&self) -> Effort {
        // Each move is some files and some syncs.
        Effort { cases: 60, rounds: 5, ..Effort::default() }.from_environment()
    }
}

fn exported(folder: &Path) -> (Vec<u8>, Seal) {
    let occasion = Occasion { id: ExportId([7; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
    let mut source = SqliteSource::open(folder).unwrap();
    export(&mut source, occasion, Vec::new(), &mut |_, _| ()).unwrap()
}

store_suite!(Moved::new());
