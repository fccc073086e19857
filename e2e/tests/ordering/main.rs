//! Ordering keys as their users see them, with many workers at once and under kill -9.

mod cases;
mod crash;
mod refusals;

use e2e::{Job, job};

/// A job of the line with this key.
fn ordered(key: &str) -> Job {
    job("step").with("ordering_key", key)
}
