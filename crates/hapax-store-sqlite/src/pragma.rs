//! How each connection is set up: the only place that sets a pragma, with the reason for each.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

/// Rows of a few hundred bytes written in order: larger pages than SQLite's 4 KiB save frames per group.
pub(crate) const PAGE_BYTES: u64 = 8192;

/// For the file that is being made. The page size is fixed by the first write, and the journal mode is
/// remembered in the file.
const NEW_FILE: &str = "
    PRAGMA page_size = 8192;
    PRAGMA journal_mode = WAL;
";

const EVERY: &str = "
    -- Readers and the writer do not wait for each other; a commit is one append.
    PRAGMA journal_mode = WAL;
    -- COMMIT writes frames and does not sync: the syncer does, once for many groups, before anybody hears of
    -- them. SQLite still syncs where the order of writes matters: the log's header after a restart, the log
    -- before a checkpoint copies pages, and the pages after it.
    PRAGMA synchronous = NORMAL;
    -- Checkpoints run when the engine says, not inside whichever commit crosses a line.
    PRAGMA wal_autocheckpoint = 0;
    -- The log is never cut back: a commit into space that the file has costs half of one that extends it.
    PRAGMA journal_size_limit = -1;
    -- Sorting and statement journals need no file.
    PRAGMA temp_store = MEMORY;
    -- There are none, and looking for them costs time.
    PRAGMA foreign_keys = OFF;
    -- A damaged page is noticed when it is read, not when it has been misread.
    PRAGMA cell_size_check = ON;
    -- Nothing in the file is to be run as code.
    PRAGMA trusted_schema = OFF;
    -- Opening and recovery take locks for moments only.
    PRAGMA busy_timeout = 5000;
";

/// Updates hit pages all over the file when jobs of different ages end.
const WRITER: &str = "PRAGMA cache_size = -65536;";

/// A reader looks up single rows; it must not be able to write.
const READER: &str = "PRAGMA cache_size = -4096; PRAGMA query_only = ON;";

/// A checkpoint reads the log past the page cache.
const CHECKPOINTER: &str = "PRAGMA cache_size = -256;";

/// For whoever carries everything from or to elsewhere while no server runs: each commit is synced and the log copied
/// back by SQLite itself, and what is sorted is sorted in files, since it may be larger than memory.
const MOVER: &str = "
    PRAGMA cache_size = -65536;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA temp_store = FILE;
";

pub(crate) fn new_file(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(NEW_FILE)
}

pub(crate) fn writer(db: &Connection) -> rusqlite::Result<()> {
    every(db)?;
    db.execute_batch(WRITER)
}

pub(crate) fn reader(db: &Connection) -> rusqlite::Result<()> {
    every(db)?;
    db.execute_batch(READER)
}

pub(crate) fn checkpointer(db: &Connection) -> rusqlite::Result<()> {
    every(db)?;
    db.execute_batch(CHECKPOINTER)
}

pub(crate) fn mover(db: &Connection) -> rusqlite::Result<()> {
    every(db)?;
    db.execute_batch(MOVER)
}

fn every(db: &Connection) -> rusqlite::Result<()> {
    // With STAT4 compiled in, SQLite may plan a statement again for each bound value: 60 µs instead of 5.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // More statements than rusqlite keeps by itself.
    db.set_prepared_statement_cache_capacity(32);
    db.execute_batch(EVERY)
}
