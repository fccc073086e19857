//! A statement that writes rows.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Statement, ToSql};

use super::prepare;
use crate::Fault;

/// A statement that writes rows of one table, one after the other. SQLite keeps what was bound, and most cells of a row
/// are empty again and again: those are left alone.
pub(super) struct Pen<'c> {
    statement: Statement<'c>,
    /// The cells that were not empty in the last row, one bit each.
    filled: u64,
}

impl<'c> Pen<'c> {
    pub(super) fn new(db: &'c Connection, sql: &str) -> Result<Pen<'c>, Fault> {
        Ok(Pen { statement: prepare(db, sql)?, filled: 0 })
    }

    pub(super) fn write<const CELLS: usize>(&mut self, cells: [&dyn ToSql; CELLS]) -> rusqlite::Result<()> {
        const { assert!(CELLS <= 64, "one bit each") };
        for (place, cell) in cells.into_iter().enumerate() {
            let value = cell.to_sql()?;
            let (bit, is_empty) = (1 << place, is_empty(&value));
            if is_empty && self.filled & bit == 0 {
                continue;
            }
            self.statement.raw_bind_parameter(place + 1, value)?;
            self.filled = if is_empty { self.filled & !bit } else { self.filled | bit };
        }
        self.statement.raw_execute().map(drop)
    }
}

fn is_empty(value: &ToSqlOutput<'_>) -> bool {
    matches!(value, ToSqlOutput::Borrowed(ValueRef::Null) | ToSqlOutput::Owned(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_was_filled_before_is_empty_again_and_filled_again() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a, b, c)").unwrap();
        let mut pen = Pen::new(&db, "INSERT INTO t VALUES (?1, ?2, ?3)").unwrap();
        let rows = [[Some(1), None, Some(3)], [None, None, Some(4)], [None, Some(5), None], [None; 3]];
        for [a, b, c] in &rows {
            pen.write([a, b, c]).unwrap();
        }
        let mut written = db.prepare("SELECT a, b, c FROM t ORDER BY rowid").unwrap();
        let read = written.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
        assert_eq!(read.map(Result::unwrap).collect::<Vec<[Option<i32>; 3]>>(), rows);
    }
}
