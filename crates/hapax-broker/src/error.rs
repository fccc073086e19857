//! Why an operation was not done.

use hapax_core::Refusal;
use hapax_store::StoreError;

/// Why an operation was not done.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The machine could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}
