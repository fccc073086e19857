//! The time, as the outside gives it.

use std::fmt::Debug;

use hapax_core::Timestamp;

/// A clock on the wall: it may jump, forwards and back.
pub trait Clock: Send + Sync + Debug {
    /// The moment.
    fn now(&self) -> Timestamp;
}
