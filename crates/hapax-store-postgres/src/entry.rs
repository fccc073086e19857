//! The `entries` table.

use hapax_core::Timestamp;
use hapax_store::{Entry, EntryKey, Register, Revision, Written, workflow};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::Fault;
use crate::statements::Statements;
use crate::transaction::Transaction;

/// The statements that write entries, ready on one connection.
pub(crate) struct EntryWriters {
    put: Statement,
    remove: Statement,
}

impl EntryWriters {
    pub(crate) async fn prepare(
        transaction: &Transaction<'_>,
        statements: &Statements,
    ) -> Result<EntryWriters, Fault> {
        Ok(EntryWriters {
            put: transaction.prepare(&statements.put_entries).await?,
            remove: transaction.prepare(&statements.remove_entries).await?,
        })
    }
}

/// The entries of these names, those that are there.
pub(crate) async fn load(
    transaction: &Transaction<'_>,
    statement: &Statement,
    keys: &[EntryKey],
) -> Result<Vec<Entry>, Fault> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let (registers, names) = columns(keys.iter());
    let rows = transaction.query(statement, &[&registers, &names], "fetch entries").await?;
    rows.iter().map(read).collect()
}

fn columns<'k>(keys: impl Iterator<Item = &'k EntryKey>) -> (Vec<&'static str>, Vec<&'k str>) {
    keys.map(|key| (key.register.name(), &*key.name)).unzip()
}

/// Writes what entries say by now.
pub(crate) async fn put(
    transaction: &Transaction<'_>,
    writers: &EntryWriters,
    moved: &[(EntryKey, Revision)],
) -> Result<(), Fault> {
    let kept = moved.iter().filter_map(|(key, revision)| revision.as_ref().map(|written| (key, written)));
    let (keys, written): (Vec<&EntryKey>, Vec<&Written>) = kept.unzip();
    if keys.is_empty() {
        return Ok(());
    }
    let (registers, names) = columns(keys.into_iter());
    let bodies: Vec<&str> = written.iter().map(|written| &*written.body).collect();
    let due: Vec<Option<i64>> = written.iter().map(|written| written.due_at.map(Timestamp::millis)).collect();
    let params: [&(dyn ToSql + Sync); 4] = [&registers, &names, &bodies, &due];
    transaction.execute(&writers.put, &params, "write entries").await.map(drop)
}

/// Removes the entries that are not to be there.
pub(crate) async fn remove(
    transaction: &Transaction<'_>,
    writers: &EntryWriters,
    moved: &[(EntryKey, Revision)],
) -> Result<(), Fault> {
    let gone = moved.iter().filter(|(_, revision)| revision.is_none()).map(|(key, _)| key);
    let (registers, names) = columns(gone);
    if names.is_empty() {
        return Ok(());
    }
    transaction.execute(&writers.remove, &[&registers, &names], "remove entries").await.map(drop)
}

/// Reads a row. What cannot be read must not come on a desk, which has no way to say so.
pub(crate) fn read(row: &Row) -> Result<Entry, Fault> {
    let failed = Fault::of("read an entry");
    let register: &str = row.try_get(0).map_err(&failed)?;
    let name: &str = row.try_get(1).map_err(&failed)?;
    let body: &str = row.try_get(2).map_err(&failed)?;
    let due_at: Option<i64> = row.try_get(3).map_err(&failed)?;
    let register = Register::named(register).ok_or(Fault::Unreadable("the register of an entry"))?;
    let written = Written { body: body.into(), due_at: due_at.map(Timestamp::from_millis) };
    let entry = Entry { key: EntryKey::new(register, name), written };
    if workflow::is_readable(&entry) { Ok(entry) } else { Err(Fault::Unreadable("an entry")) }
}
