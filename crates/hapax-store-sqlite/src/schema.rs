//! The tables, and the marks by which a file is known to be ours.

use rusqlite::Connection;

/// The version of the tables that this program reads and writes.
pub(crate) const FORMAT: i64 = 1;

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

/// Notes another start. Besides, it is the write that makes SQLite create the write-ahead log.
pub(crate) fn count_start(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE about SET value = value + 1 WHERE name = 'opened'", []).map(drop)
}

/// Removes every row of every table but `about`.
pub(crate) fn clear(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("DELETE FROM jobs; DELETE FROM status; DELETE FROM queues; DELETE FROM memos;")
}
