//! What can go wrong in the machine, as opposed to what the rules refuse.

use std::error::Error;
use std::sync::Arc;

/// Why a store gave no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Nothing happened.
    #[error("the store could not do it; nothing was changed")]
    Failed(#[source] Arc<dyn Error + Send + Sync>),
    /// It may have happened: the answer was lost.
    #[error("the store did not answer; it may or may not have been done")]
    Unknown(#[source] Arc<dyn Error + Send + Sync>),
    /// The store is closing. Nothing happened.
    #[error("the store is closing; nothing was changed")]
    Closed,
    /// An entry says what nobody can read, and asking again does not help.
    #[error("the entry \"{name}\" of the register \"{register}\" is damaged")]
    Damaged {
        /// Its register.
        register: &'static str,
        /// Its name there.
        name: Arc<str>,
    },
}
