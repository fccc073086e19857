//! The cells of a row, read so that a damaged one is named.

use std::time::Duration;

use hapax_core::{JobId, Timestamp};
use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::Fault;

/// A row whose first column is its number.
pub(crate) struct Cells<'r> {
    pub(crate) row: &'r Row<'r>,
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) seq: i64,
}

impl<'r> Cells<'r> {
    pub(crate) fn new(
        row: &'r Row<'r>,
        table: &'static str,
        columns: &'static [&'static str],
    ) -> Result<Cells<'r>, Fault> {
        let mut cells = Cells { row, table, columns, seq: 0 };
        cells.seq = cells.int(0)?;
        Ok(cells)
    }

    pub(crate) fn damaged(&self, column: usize, found: &'static str) -> Fault {
        Fault::Damaged { table: self.table, column: self.columns[column], seq: self.seq, found }
    }

    pub(crate) fn damaged_by_name(&self, column: &'static str, found: &'static str) -> Fault {
        Fault::Damaged { table: self.table, column, seq: self.seq, found }
    }

    fn value(&self, column: usize) -> Result<ValueRef<'r>, Fault> {
        self.row.get_ref(column).map_err(Fault::of("read a cell"))
    }

    pub(crate) fn optional_int(&self, column: usize) -> Result<Option<i64>, Fault> {
        match self.value(column)? {
            ValueRef::Integer(number) => Ok(Some(number)),
            ValueRef::Null => Ok(None),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                Err(self.damaged(column, "no integer"))
            }
        }
    }

    pub(crate) fn int(&self, column: usize) -> Result<i64, Fault> {
        self.optional_int(column)?.ok_or_else(|| self.damaged(column, "missing"))
    }

    /// An integer that fits a smaller type.
    pub(crate) fn number<T: TryFrom<i64>>(&self, column: usize) -> Result<T, Fault> {
        self.int(column)?.try_into().map_err(|_| self.damaged(column, "out of range"))
    }

    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&'r str>, Fault> {
        match self.value(column)? {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map(Some).map_err(|_| self.damaged(column, "not UTF-8"))
            }
            ValueRef::Null => Ok(None),
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
                Err(self.damaged(column, "no text"))
            }
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&'r str, Fault> {
        self.optional_text(column)?.ok_or_else(|| self.damaged(column, "missing"))
    }

    pub(crate) fn optional_bytes<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>, Fault> {
        match self.value(column)? {
            ValueRef::Blob(bytes) => {
                bytes.try_into().map(Some).map_err(|_| self.damaged(column, "of the wrong length"))
            }
            ValueRef::Null => Ok(None),
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => {
                Err(self.damaged(column, "no bytes"))
            }
        }
    }

    pub(crate) fn optional_id(&self, column: usize) -> Result<Option<JobId>, Fault> {
        let bytes = self.optional_bytes(column)?;
        let id = |bytes| JobId::from_bytes(bytes).ok_or_else(|| self.damaged(column, "no UUID of version 7"));
        bytes.map(id).transpose()
    }

    pub(crate) fn optional_time(&self, column: usize) -> Result<Option<Timestamp>, Fault> {
        Ok(self.optional_int(column)?.map(Timestamp::from_millis))
    }

    pub(crate) fn time(&self, column: usize) -> Result<Timestamp, Fault> {
        self.int(column).map(Timestamp::from_millis)
    }

    pub(crate) fn optional_span(&self, column: usize) -> Result<Option<Duration>, Fault> {
        let span = |millis| u64::try_from(millis).map_err(|_| self.damaged(column, "negative"));
        Ok(self.optional_int(column)?.map(span).transpose()?.map(Duration::from_millis))
    }
}
