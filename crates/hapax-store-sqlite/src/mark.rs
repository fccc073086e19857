//! How far an import got: rows of `about` that are there from its first transaction to its last.

use hapax_store::portable::{ExportId, Mark};
use rusqlite::{Connection, OptionalExtension as _};

use crate::Fault;
use crate::row::statement;

/// The export's name in two halves, the lines that are stored, and their checksum.
const NAMES: [&str; 4] = ["import_id_1", "import_id_2", "import_lines", "import_digest"];

const SELECT: &str = "SELECT value FROM about WHERE name = ?1";
const PUT: &str = "INSERT INTO about (name, value) VALUES (?1, ?2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
const DELETE: &str = "DELETE FROM about WHERE name = ?1";

/// What an unfinished import left.
pub(crate) fn read(db: &Connection) -> Result<Option<Mark>, Fault> {
    let mut values = [0; NAMES.len()];
    for (value, name) in values.iter_mut().zip(NAMES) {
        let found: Option<i64> = statement(db, SELECT)?
            .query_row([name], |row| row.get(0))
            .optional()
            .map_err(Fault::of("look for an import"))?;
        let Some(found) = found else { return Ok(None) };
        *value = found;
    }
    let [first, second, lines, digest] = values;
    let mut id = [0; 16];
    id[..8].copy_from_slice(&first.to_be_bytes());
    id[8..].copy_from_slice(&second.to_be_bytes());
    Ok(Some(Mark { export: ExportId(id), lines: lines.unsigned_abs(), digest }))
}

pub(crate) fn write(db: &Connection, mark: Mark) -> Result<(), Fault> {
    let Mark { export: ExportId(id), lines, digest } = mark;
    let (halves, _) = id.as_chunks::<8>();
    let lines = i64::try_from(lines).unwrap_or(i64::MAX);
    let values = [i64::from_be_bytes(halves[0]), i64::from_be_bytes(halves[1]), lines, digest];
    for (name, value) in NAMES.into_iter().zip(values) {
        statement(db, PUT)?.execute((name, value)).map_err(Fault::of("note how far the import got"))?;
    }
    Ok(())
}

pub(crate) fn remove(db: &Connection) -> Result<(), Fault> {
    for name in NAMES {
        statement(db, DELETE)?.execute([name]).map_err(Fault::of("note that the import is finished"))?;
    }
    Ok(())
}
