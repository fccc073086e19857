//! What the database could not do, and what that means for a request.

use std::sync::Arc;

use hapax_store::StoreError;
use hapax_store::portable::{ExportError, ImportError};
use tokio_postgres::error::SqlState;
use uuid::Uuid;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The database refused, or the way to it broke.
    #[error("PostgreSQL could not {doing}")]
    Database {
        /// Meanwhile.
        doing: &'static str,
        /// Its own words.
        #[source]
        source: tokio_postgres::Error,
    },
    /// All connections were in use for too long.
    #[error("all connections to PostgreSQL are in use")]
    NoPlace,
    /// The machine cannot encrypt.
    #[error("a connection to PostgreSQL could not be encrypted")]
    Encryption(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row holds what nobody wrote.
    #[error("the column {column} of the job {id} is damaged: {found}")]
    Damaged {
        /// Which column.
        column: &'static str,
        /// Of which job.
        id: Uuid,
        /// What is there.
        found: &'static str,
    },
    /// Something else holds what nobody wrote.
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    /// Somebody else held a job or a key for too long.
    #[error("another transaction holds a job or a key of this request")]
    Held,
    /// The commit was answered, but a standby may not have it.
    #[error("the commit may not have reached the synchronous standby")]
    NotReplicated,
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
    /// Says what was being done.
    pub(crate) fn of(doing: &'static str) -> impl Fn(tokio_postgres::Error) -> Fault {
        move |source| Fault::Database { doing, source }
    }

    fn state(&self) -> Option<&SqlState> {
        match self {
            Fault::Database { source, .. } => source.code(),
            Fault::NoPlace
            | Fault::Encryption(_)
            | Fault::Damaged { .. }
            | Fault::Unreadable(_)
            | Fault::Held
            | Fault::NotReplicated => None,
        }
    }

    /// Whether the database itself undid the transaction because of others: the same request may succeed.
    pub(crate) fn is_of_the_moment(&self) -> bool {
        self.state().is_some_and(|state| {
            [
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::T_R_SERIALIZATION_FAILURE,
                // Two servers stored the same id at once: now one of them is told that it is taken.
                SqlState::UNIQUE_VIOLATION,
            ]
            .contains(state)
        })
    }

    /// Whether the database had no room for so many locks.
    pub(crate) fn is_of_room(&self) -> bool {
        self.state().is_some_and(|state| *state == SqlState::OUT_OF_MEMORY)
    }

    /// Whether the server's role may not do this.
    pub(crate) fn is_of_a_right(&self) -> bool {
        self.state().is_some_and(|state| *state == SqlState::INSUFFICIENT_PRIVILEGE)
    }

    /// Whether the request waited for a lock as long as it may.
    pub(crate) fn is_of_a_lock(&self) -> bool {
        self.state().is_some_and(|state| *state == SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether the way to the database broke. What was sent before may have been done.
    pub(crate) fn is_of_the_connection(&self) -> bool {
        match self {
            Fault::Database { source, .. } => {
                let ended = |state: &SqlState| {
                    [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW]
                        .contains(state)
                        || state.code().starts_with("08")
                };
                source.is_closed() || source.code().is_none_or(ended)
            }
            Fault::NoPlace
            | Fault::Encryption(_)
            | Fault::Damaged { .. }
            | Fault::Unreadable(_)
            | Fault::Held
            | Fault::NotReplicated => false,
        }
    }

    /// What a caller is told if nothing can have been committed.
    pub(crate) fn failed(self) -> StoreError {
        StoreError::Failed(Arc::new(self))
    }

    /// What a caller is told if the commit was under way.
    pub(crate) fn at_commit(self) -> StoreError {
        // An error from the database itself says that it undid everything.
        let is_undone = !self.is_of_the_connection() && !matches!(self, Fault::NotReplicated);
        if is_undone { self.failed() } else { StoreError::Unknown(Arc::new(self)) }
    }
}
