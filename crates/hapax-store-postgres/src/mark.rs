//! How far an import got: a table with one row that is there from its first transaction to its last.
//!
//! Meanwhile the schema has another name, so that nobody can use it: not a server that starts, nor one that runs, of
//! whatever version, nor the functions for transactions of the users.

use hapax_store::portable::{ExportId, Mark};
use tokio_postgres::{GenericClient, Row};

use crate::Fault;
use crate::settings::SchemaName;

/// Made when an import begins, gone when it is finished.
pub(crate) const CREATE: &str = "CREATE TABLE hapax.import ( \
     only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), \
     export bytea NOT NULL, lines bigint NOT NULL, digest bigint NOT NULL, last_number bigint NOT NULL DEFAULT 0)";
pub(crate) const INSERT: &str = "INSERT INTO hapax.import (export, lines, digest) VALUES ($1, $2, $3)";
/// Two imports at once would both believe to be at the same line.
pub(crate) const MOVE_ON: &str = "UPDATE hapax.import SET lines = $3, digest = $4, \
     last_number = greatest(last_number, $5) WHERE export = $1 AND lines = $2";

/// Whether there is an unfinished import. A server may ask this without a right to read the table.
pub(crate) async fn is_there(client: &impl GenericClient, importing: &SchemaName) -> Result<bool, Fault> {
    let row = client.query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&table(importing)]).await;
    row.and_then(|row| row.try_get(0)).map_err(Fault::of("look for an import"))
}

fn table(importing: &SchemaName) -> String {
    format!("{}.import", importing.as_str())
}

/// How far it got.
pub(crate) async fn read(client: &impl GenericClient, importing: &SchemaName) -> Result<Option<Mark>, Fault> {
    if !is_there(client, importing).await? {
        return Ok(None);
    }
    let failed = Fault::of("look for an import");
    let table = table(importing);
    let rows =
        client.query(&format!("SELECT export, lines, digest FROM {table}"), &[]).await.map_err(&failed)?;
    rows.first().map(mark).transpose()
}

fn mark(row: &Row) -> Result<Mark, Fault> {
    let failed = Fault::of("look for an import");
    let export: &[u8] = row.try_get(0).map_err(&failed)?;
    let export = export.try_into().map_err(|_| Fault::Unreadable("the mark of an import"))?;
    let lines: i64 = row.try_get(1).map_err(&failed)?;
    let digest = row.try_get(2).map_err(&failed)?;
    Ok(Mark { export: ExportId(export), lines: lines.unsigned_abs(), digest })
}
