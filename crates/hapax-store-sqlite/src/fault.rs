//! What can be wrong with the file or with SQLite.

use std::sync::Arc;

use hapax_store::portable::{ExportError, ImportError};

/// Why the engine could not read or write its file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// SQLite refused.
    #[error("SQLite could not {doing}")]
    Sqlite {
        /// What was tried.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// A value is not what this program writes.
    #[error("{table}.{column} of row {seq} is damaged: it is {found}")]
    Damaged {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row.
        seq: i64,
        /// What is there.
        found: &'static str,
    },
    /// A row that was there has gone.
    #[error("row {seq} of {table} has gone")]
    Missing {
        /// The table.
        table: &'static str,
        /// The row.
        seq: i64,
    },
    /// An entry is not what this program writes.
    #[error("the entry \"{name}\" of the register \"{register}\" is damaged")]
    Entry {
        /// Its register.
        register: Box<str>,
        /// Its name.
        name: Box<str>,
    },
    /// A row of one table lacks its other half.
    #[error("row {seq} of {table} has no counterpart in {other}")]
    Orphan {
        /// The table that has the row.
        table: &'static str,
        /// The table that has not.
        other: &'static str,
        /// The row.
        seq: i64,
    },
}

impl From<Fault> for ExportError {
    fn from(fault: Fault) -> ExportError {
        ExportError::Store(Arc::new(fault))
    }
}

impl From<Fault> for ImportError {
    fn from(fault: Fault) -> ImportError {
        ImportError::Store(Arc::new(fault))
    }
}

impl Fault {
    /// What turns an error of SQLite into a fault.
    pub(crate) fn of(doing: &'static str) -> impl Fn(rusqlite::Error) -> Fault {
        move |source| Fault::Sqlite { doing, source }
    }
}
