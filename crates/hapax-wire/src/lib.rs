//! What clients see: the JSON of jobs and errors, and the one table of error codes.
#![warn(missing_docs)]

pub mod error;
pub mod job;
pub mod summary;
pub mod unique;
pub mod writer;

pub mod failure;
pub mod rate_limit;
pub mod retry;

pub use retry::{backoff_name, exhaustion_name};
