//! The suite with a move to the other engine in the place of every restart: from a folder to a database, from there to
//! a folder again. What is carried over behaves as if it had stayed.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "this is test code: a panic is how it reports")]

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use hapax_core::{Rules, Timestamp};
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::portable::{Batch, ExportId, Occasion, Reader, Seal, Source, Target, export, import};
use hapax_store::suite::{Effort, Harness, wait};
use hapax_store::{Store, store_suite};
use hapax_store_postgres::{PostgresSource, PostgresStore, PostgresTarget, SchemaName, Settings, migrate};
use hapax_store_sqlite::{self as sqlite, SqliteSource, SqliteStore, SqliteTarget};
use tempfile::TempDir;

/// Where the jobs are.
enum Place {
    Folder(PathBuf),
    Database(Lent),
}

/// A database, empty when it is lent. Making one for each move would take most of the time.
struct Lent(Option<Database>);

static FREE: Mutex<Vec<Database>> = Mutex::new(Vec::new());

impl Lent {
    fn new() -> Lent {
        let free = FREE.lock().unwrap().pop();
        let Some(database) = free else {
            let database = Cluster::shared().database();
            migrate(&database.url().parse().unwrap(), &SchemaName::default()).unwrap();
            return Lent(Some(database));
        };
        let store =
            PostgresStore::open(Settings::new(database.url().parse().unwrap(), Rules::default())).unwrap();
        wait(store.reset()).unwrap();
        Lent(Some(database))
    }

    fn url(&self) -> String {
        self.0.as_ref().unwrap().url()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // After a failure nobody knows what is under way in it.
        if !thread::panicking() {
            FREE.lock().unwrap().extend(self.0.take());
        }
    }
}

impl Place {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        match self {
            Place::Folder(path) => {
                let settings = sqlite::Settings::new(rules, Arc::new(|_| ()));
                let settings = sqlite::Settings { log_bytes: 1 << 16, ..settings };
                Arc::new(unlocked(|| SqliteStore::open_with(path, settings.clone())))
            }
            Place::Database(database) => {
                Arc::new(PostgresStore::open(Settings::new(database.url().parse().unwrap(), rules)).unwrap())
            }
        }
    }

    fn source(&self) -> Box<dyn Source> {
        match self {
            Place::Folder(path) => Box::new(unlocked(|| SqliteSource::open(path))),
            Place::Database(database) => {
                let url = database.url().parse().unwrap();
                Box::new(PostgresSource::open(&url, &SchemaName::default()).unwrap())
            }
        }
    }

    fn target(&self, rules: Rules) -> Box<dyn Target> {
        match self {
            Place::Folder(path) => Box::new(unlocked(|| SqliteTarget::open(path))),
            Place::Database(database) => {
                let url = database.url().parse().unwrap();
                Box::new(PostgresTarget::open(&url, &SchemaName::default(), rules).unwrap())
            }
        }
    }

    /// The lines below the first, which names the engine.
    fn exported(&self) -> (String, String, Seal) {
        let occasion = Occasion { id: ExportId([7; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
        let (text, seal) = export(&mut *self.source(), occasion, Vec::new(), &mut |_, _| ()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (first, rest) = text.split_once('\n').unwrap();
        let (first, rest) = (first.to_owned(), rest.to_owned());
        assert!(first.contains(&format!("\"jobs\":{},", seal.census.jobs)), "{first} tells of {seal:?}");
        (first, rest, seal)
    }
}

/// What is opened, once the folder is free. A process that another test starts, such as one that makes a database, holds
/// every lock of this one for the moment between fork and exec.
#[track_caller]
fn unlocked<T: Debug>(open: impl Fn() -> Result<T, sqlite::OpenError>) -> T {
    const TRIES: usize = 100_000;
    let is_in_use = |opened: &Result<T, _>| matches!(opened, Err(sqlite::OpenError::InUse(_)));
    let mut tries = (0..TRIES).map(|_| {
        thread::yield_now();
        open()
    });
    tries.find(|opened| !is_in_use(opened)).expect("the folder is free").unwrap()
}

struct Moved {
    home: TempDir,
    /// The one where the jobs are.
    place: Mutex<Place>,
    moves: AtomicUsize,
}

impl Moved {
    fn new() -> Moved {
        let home = tempfile::tempdir().unwrap();
        let place = Mutex::new(Place::Folder(home.path().join("first")));
        Moved { home, place, moves: AtomicUsize::new(0) }
    }

    /// A place of the other kind.
    fn next(&self, place: &Place) -> Place {
        match place {
            Place::Folder(_) => Place::Database(Lent::new()),
            Place::Database(_) => {
                Place::Folder(self.home.path().join(self.moves.fetch_add(1, Ordering::Relaxed).to_string()))
            }
        }
    }
}

impl Harness for Moved {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        self.place.lock().unwrap().open(rules)
    }

    fn reopen(&self, store: Arc<dyn Store>, rules: Rules) -> Arc<dyn Store> {
        wait(store.close()).unwrap();
        drop(store);
        let mut place = self.place.lock().unwrap();
        let next = self.next(&place);
        let (first, rest, seal) = place.exported();
        let text = format!("{first}\n{rest}");
        let mut reader = Reader::begin(text.as_bytes()).unwrap();
        let batch = Batch { lines: 20, ..Batch::default() };
        assert_eq!(import(&mut reader, &mut *next.target(rules.clone()), batch, &mut |_| ()).unwrap(), seal);
        let (_, again, same) = next.exported();
        assert_eq!((again, same), (rest, seal), "the same again, to the byte");
        let store = next.open(rules);
        *place = next;
        store
    }

    fn effort(&self) -> Effort {
        // Each move makes a database or a folder.
        Effort { cases: 10, rounds: 3, ..Effort::default() }.from_environment()
    }
}

store_suite!(Moved::new());
