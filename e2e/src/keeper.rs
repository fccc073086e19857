//! What keeps a server's jobs: a folder, or a database of its own on a throw-away PostgreSQL.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hapax_pg_cluster::{Cluster, Database};

/// Names the kind of store for all tests that leave it open: `embedded`, which is the default, or `postgres`.
const VARIABLE: &str = "HAPAX_E2E_STORE";

/// The kinds of stores that tests run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Embedded,
    Postgres,
}

/// How often a crash test kills its server. Fewer times where a database has the jobs: there is less that can go wrong,
/// and every restart costs more.
pub fn crashes() -> usize {
    if database_lives_on() { 30 } else { 100 }
}

/// Whether a killed server leaves a database behind that goes on.
pub fn database_lives_on() -> bool {
    Store::of_this_run() == Store::Postgres
}

/// The place that outlives a server's process, so that the next one finds what it left.
#[derive(Debug)]
pub(crate) enum Keeper {
    Folder(PathBuf),
    Database(Database),
}

impl Store {
    /// The one that this run of the tests is about.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks which store is tested")]
    #[track_caller]
    pub(crate) fn of_this_run() -> Store {
        match env::var(VARIABLE).as_deref() {
            Err(env::VarError::NotPresent) | Ok("embedded") => Store::Embedded,
            Ok("postgres") => Store::Postgres,
            other => panic!("{VARIABLE} is {other:?}: embedded or postgres"),
        }
    }
}

impl Keeper {
    /// A new one: this folder, which need not be there yet, or a fresh database.
    #[track_caller]
    pub(crate) fn new(store: Store, folder: PathBuf) -> Keeper {
        match store {
            Store::Embedded => Keeper::Folder(folder),
            Store::Postgres => Keeper::Database(Cluster::shared().database()),
        }
    }

    /// How the server is told of it.
    pub(crate) fn args(&self) -> [OsString; 2] {
        match self {
            Keeper::Folder(folder) => ["--data".into(), folder.into()],
            Keeper::Database(database) => ["--database-url".into(), database.url().into()],
        }
    }

    #[track_caller]
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Keeper::Folder(folder) => folder,
            Keeper::Database(_) => {
                panic!("a database is no folder: tests of files start with Launch::embedded")
            }
        }
    }
}
