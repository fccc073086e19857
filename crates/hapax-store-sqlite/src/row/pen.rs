//! A statement that writes rows.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Statement, ToSql};

use super::prepare;
use crate::Fault;

/// A statement that writes rows of one table, one after the other. SQLite keeps what was bound, and most cells of a row
/// are empty again and again: those are left alone.
pub(super) struct Pen<'c, const CELLS: usize> {
    statement: Statement<'c>,
    /// The cells of which a value may be bound, one bit each.
    filled: u64,
}

impl<'c, const CELLS: usize> Pen<'c, CELLS> {
    pub(super) fn new(db: &'c Connection, sql: &str) -> Result<Pen<'c, CELLS>, Fault> {
        const { assert!(CELLS <= 64, "one bit each") };
        let statement = prepare(db, sql)?;
        // A cell that nobody binds would be empty in every row.
        let wanted = statement.parameter_count();
        if wanted != CELLS {
            return Err(Fault::of("prepare a statement")(Error::InvalidParameterCount(CELLS, wanted)));
        }
        Ok(Pen { statement, filled: 0 })
    }

    pub(super) fn write(&mut self, cells: [&dyn ToSql; CELLS]) -> rusqlite::Result<()> {
        for (place, cell) in cells.into_iter().enumerate() {
            let value = cell.to_sql()?;
            let (bit, is_empty) = (1 << place, is_empty(&value));
            if is_empty && self.filled & bit == 0 {
                continue;
            }
            // Until it is known to be empty, so that no failure in between leaves a value for the next row.
            self.filled |= bit;
            self.statement.raw_bind_parameter(place + 1, value)?;
            if is_empty {
                self.filled &= !bit;
            }
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
        db.execute_batch("CREATE TABLE t (a, b CHECK (b != 'no'), c)").unwrap();
        let mut pen = Pen::new(&db, "INSERT INTO t VALUES (?1, ?2, ?3)").unwrap();
        let rows =
            [[Some("1"), None, Some("3")], [None, None, Some("4")], [None, Some("5"), None], [None; 3]];
        for [a, b, c] in &rows {
            pen.write([a, b, c]).unwrap();
            pen.write([&"of a row", &"no", &"that is refused"]).unwrap_err();
        }
        let mut written = db.prepare("SELECT a, b, c FROM t ORDER BY rowid").unwrap();
        let read = written.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
        let read: Vec<[Option<String>; 3]> = read.map(Result::unwrap).collect();
        assert_eq!(read, rows.map(|row| row.map(|cell| cell.map(str::to_owned))));
    }

    #[test]
    fn a_statement_with_another_number_of_cells_is_refused() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (a, b)").unwrap();
        assert!(Pen::<2>::new(&db, "INSERT INTO t VALUES (?1, ?2)").is_ok());
        assert!(Pen::<1>::new(&db, "INSERT INTO t VALUES (?1, ?2)").is_err());
    }
}
