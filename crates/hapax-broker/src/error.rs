//! Why an operation was not done.

use hapax_core::{Refusal, Timestamp};
use hapax_store::StoreError;

use crate::Maintenance;

/// Why an operation was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This server does as much of it at a time as it does.
    #[error("the server does as much of this at a time as it may; try again in a moment")]
    Busy,
    /// This server takes in no jobs for a while.
    #[error("the server is under maintenance")]
    Maintenance {
        /// Why and since when.
        maintenance: Maintenance,
        /// When it was asked.
        now: Timestamp,
    },
}
