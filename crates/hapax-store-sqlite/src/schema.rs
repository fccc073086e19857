//! The tables, and the marks by which a file is known to be ours.

use rusqlite::Connection;

/// The version of the tables that this program writes. It reads all earlier ones: 1 had no job keys, no debouncing,
/// no released keys and no jobs that wait for others; 2 wrote ledgers at length; 3 had no entries.
pub(crate) const FORMAT: i64 = 4;

/// The table that files of format 3 and before lack, as in the schema.
const ENTRIES: &str = "CREATE TABLE IF NOT EXISTS entries ( \
     register TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, due_at INTEGER, \
     PRIMARY KEY (register, name)) STRICT, WITHOUT ROWID";

/// `HPAX`: what `file` and SQLite's own header show.
pub(crate) const APPLICATION_ID: i64 = 0x4850_4158;

/// Makes the tables in an empty database. The format row comes last: with it, the file is whole.
pub(crate) fn create(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("BEGIN IMMEDIATE")?;
    db.execute_batch(include_str!("schema.sql"))?;
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.execute("INSERT INTO about (name, value) VALUES ('opened', 0), ('format', ?1)", [FORMAT])?;
    db.execute_batch("COMMIT")
}

/// Adds what a file of an earlier format lacks. It stays readable for the program that wrote it.
pub(crate) fn complete(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(ENTRIES)
}

/// Notes another start, and that rows of this format may follow: in one statement, before any of them. Besides, it
/// is the write that makes SQLite create the write-ahead log.
pub(crate) fn count_start(db: &Connection) -> rusqlite::Result<()> {
    let note =
        "UPDATE about SET value = iif(name = 'format', ?1, value + 1) WHERE name IN ('format', 'opened')";
    db.execute(note, [FORMAT]).map(drop)
}

/// Removes every row of every table but `about`.
pub(crate) fn clear(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "DELETE FROM jobs; DELETE FROM status; DELETE FROM queues; DELETE FROM memos; DELETE FROM entries;",
    )
}
