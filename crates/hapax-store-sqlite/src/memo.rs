//! The `memos` table: answers as clients got them.

use std::sync::Arc;

use hapax_core::Timestamp;
use hapax_store::{MemoKey, Remembered};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};

use crate::Fault;
use crate::index::KnownMemo;
use crate::row::cells::Cells;
use crate::row::{Seq, statement};

const TABLE: &str = "memos";
const COLUMNS: &[&str] = &["seq", "name", "fingerprint", "since", "status", "body"];

const INSERT: &str =
    "INSERT INTO memos (seq, name, fingerprint, since, status, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const SELECT: &str = "SELECT seq, name, fingerprint, since, status, body FROM memos WHERE seq = ?1";
const SCAN: &str = "SELECT seq, name, fingerprint, since FROM memos ORDER BY seq";
/// By age and then by the bytes of the name, whatever the order in which they were written.
const BY_AGE: &str = "SELECT seq, name, fingerprint, since FROM memos ORDER BY since, name";
const DELETE: &str = "DELETE FROM memos WHERE seq = ?1";

/// A remembered answer with its name.
#[derive(Debug, Clone)]
pub(crate) struct KeptMemo {
    pub(crate) name: MemoKey,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) since: Timestamp,
    pub(crate) reply: Remembered,
}

pub(crate) fn insert(db: &Connection, seq: Seq, memo: &KeptMemo) -> Result<(), Fault> {
    let KeptMemo { name, fingerprint, since, reply: Remembered { status, body } } = memo;
    let cells = (seq, &*name.0, fingerprint.as_slice(), since.millis(), *status, &**body);
    statement(db, INSERT)?.execute(cells).map_err(Fault::of("write a row of memos")).map(drop)
}

pub(crate) fn delete(db: &Connection, seq: Seq) -> Result<(), Fault> {
    statement(db, DELETE)?.execute([seq]).map_err(Fault::of("remove a row of memos")).map(drop)
}

/// The answer of that number.
pub(crate) fn load(db: &Connection, seq: Seq) -> Result<Remembered, Fault> {
    let found = statement(db, SELECT)?.query_row([seq], |row| Ok(read_reply(row)));
    let found = found.optional().map_err(Fault::of("read a row of memos"))?;
    found.unwrap_or(Err(Fault::Missing { table: TABLE, seq }))
}

fn read_reply(row: &rusqlite::Row<'_>) -> Result<Remembered, Fault> {
    let cells = Cells::new(row, TABLE, COLUMNS)?;
    match row.get_ref(5).map_err(Fault::of("read a cell"))? {
        ValueRef::Blob(body) => Ok(Remembered { status: cells.number(4)?, body: Arc::from(body) }),
        _ => Err(cells.damaged(5, "no bytes")),
    }
}

/// Shows what is remembered, without the answers.
pub(crate) fn scan(db: &Connection, mut show: impl FnMut(MemoKey, KnownMemo)) -> Result<(), Fault> {
    each(db, SCAN, |name, known| {
        show(name, known);
        Ok(())
    })
}

/// Shows what is remembered, the oldest first. The answers are fetched one by one, so that only names are sorted.
pub(crate) fn show_all<E: From<Fault>>(
    db: &Connection,
    mut show: impl FnMut(KeptMemo) -> Result<(), E>,
) -> Result<(), E> {
    each(db, BY_AGE, |name, KnownMemo { seq, since, fingerprint }| {
        show(KeptMemo { name, fingerprint, since, reply: load(db, seq)? })
    })
}

fn each<E: From<Fault>>(
    db: &Connection,
    sql: &str,
    mut show: impl FnMut(MemoKey, KnownMemo) -> Result<(), E>,
) -> Result<(), E> {
    let failed = Fault::of("scan memos");
    let mut memos = db.prepare(sql).map_err(&failed)?;
    let mut rows = memos.query([]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let cells = Cells::new(row, TABLE, COLUMNS)?;
        let fingerprint = cells.optional_bytes(2)?.ok_or_else(|| cells.damaged(2, "missing"))?;
        let known = KnownMemo { seq: cells.seq, since: cells.time(3)?, fingerprint };
        show(MemoKey(cells.text(1)?.into()), known)?;
    }
    Ok(())
}
