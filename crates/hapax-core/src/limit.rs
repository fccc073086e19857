//! Rate limits: how many jobs that share a key may run at a time, how many may start in a while, and how far apart.

mod gate;
mod key;
mod memory;
mod policy;
mod share;
mod starts;
#[cfg(test)]
mod tests;

pub use gate::{Closed, Strategy};
pub use key::{LimitKey, LimitKeyError};
pub use memory::{CLOSED_MAX, Memory, Ruling};
pub use policy::{CONCURRENCY_MAX, Limits, OnLimit, Pace, PaceError, RateLimit, Window};
pub use share::{Share, fair_turn, turn_behind, turn_of};
pub use starts::{SPANS_MAX, Span, Starts};
