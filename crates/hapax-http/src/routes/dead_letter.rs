//! Dead letters: look at, try again, throw away.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod retry;
pub(crate) mod show;
