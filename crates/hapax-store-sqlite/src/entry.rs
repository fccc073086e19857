//! The `entries` table.

use hapax_core::Timestamp;
use hapax_store::{Entry, EntryKey, EntryPage, EntryQuery, Register, Revision, Written};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::Fault;
use crate::row::statement;

const SELECT: &str = "SELECT register, name, body, due_at FROM entries WHERE register = ?1 AND name = ?2";
const PUT: &str = "INSERT INTO entries (register, name, body, due_at) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (register, name) DO UPDATE SET body = excluded.body, due_at = excluded.due_at";
const DELETE: &str = "DELETE FROM entries WHERE register = ?1 AND name = ?2";
const KNOWN: &str =
    "SELECT register, name, body, due_at FROM entries WHERE due_at IS NOT NULL OR register = 'limit'";
const ALL: &str = "SELECT register, name, body, due_at FROM entries ORDER BY register, name";
/// Names are compared byte by byte, so those with a prefix stand together.
const PAGE: &str = "SELECT register, name, body, due_at FROM entries \
     WHERE register = ?1 AND name >= ?2 AND name > ?3 ORDER BY name LIMIT ?4";
const COUNT: &str = "SELECT count(*) FROM entries WHERE register = ?1 AND name >= ?2 AND name < ?2 || ?3";
/// Behind every name of a prefix: no text has a larger character.
const LAST: &str = "\u{10ffff}";

/// Whether the file has the table: one of an earlier format that is only read may lack it.
pub(crate) fn is_there(db: &Connection) -> Result<bool, Fault> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'entries'";
    db.query_row(tables, [], |row| row.get(0)).map_err(Fault::of("look for a table"))
}

/// The entry of that name, as the tables have it.
pub(crate) fn load(db: &Connection, key: &EntryKey) -> Result<Option<Entry>, Fault> {
    let found = statement(db, SELECT)?.query_row((key.register.name(), &*key.name), |row| Ok(read(row)));
    found.optional().map_err(Fault::of("read a row of entries"))?.transpose()
}

/// Writes what an entry says, or removes it.
pub(crate) fn write(db: &Connection, key: &EntryKey, revision: &Revision) -> Result<(), Fault> {
    let EntryKey { register, name } = key;
    let done = match revision {
        Some(Written { body, due_at }) => {
            let cells = (register.name(), &**name, &**body, due_at.map(Timestamp::millis));
            statement(db, PUT)?.execute(cells)
        }
        None => statement(db, DELETE)?.execute((register.name(), &**name)),
    };
    done.map_err(Fault::of("write a row of entries")).map(drop)
}

/// Shows every entry that the indexes know of: those to which something happens by itself, and rate limits.
pub(crate) fn scan_known(db: &Connection, mut show: impl FnMut(Entry)) -> Result<(), Fault> {
    each(db, KNOWN, |entry| {
        show(entry);
        Ok(())
    })
}

/// Shows every entry, by register and name.
pub(crate) fn show_all<E: From<Fault>>(
    db: &Connection,
    show: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    each(db, ALL, show)
}

fn each<E: From<Fault>>(
    db: &Connection,
    sql: &str,
    mut show: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let failed = Fault::of("scan entries");
    let mut entries = db.prepare(sql).map_err(&failed)?;
    let mut rows = entries.query([]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        show(read(row)?)?;
    }
    Ok(())
}

/// A page of entries.
pub(crate) fn page(db: &Connection, query: &EntryQuery) -> Result<EntryPage, Fault> {
    let failed = Fault::of("read entries");
    let EntryQuery { register, prefix, after, limit } = query;
    // No name is empty, so the empty one comes before all.
    let after = after.as_deref().unwrap_or_default();
    let limit_and_one = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
    let mut wanted = statement(db, PAGE)?;
    let mut rows = wanted.query((register.name(), &**prefix, after, limit_and_one)).map_err(&failed)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let entry = read(row)?;
        if !entry.key.name.starts_with(&**prefix) {
            break;
        }
        entries.push(entry);
    }
    let count =
        statement(db, COUNT)?.query_row((register.name(), &**prefix, LAST), |row| row.get::<_, i64>(0));
    let has_more = entries.len() > *limit;
    entries.truncate(*limit);
    Ok(EntryPage { entries, has_more, total: count.map_err(&failed)?.unsigned_abs() })
}

fn read(row: &Row<'_>) -> Result<Entry, Fault> {
    let failed = Fault::of("read a row of entries");
    let text =
        |column| -> Result<String, Fault> { row.get(column).map_err(Fault::of("read a row of entries")) };
    let (register, name) = (text(0)?, text(1)?);
    let register = Register::named(&register)
        .ok_or_else(|| Fault::Entry { register: register.into(), name: name.as_str().into() })?;
    let due_at: Option<i64> = row.get(3).map_err(failed)?;
    let written = Written { body: text(2)?.into(), due_at: due_at.map(Timestamp::from_millis) };
    Ok(Entry { key: EntryKey::new(register, name), written })
}
