//! What clients see: the JSON of jobs and errors, and the one table of error codes.
#![warn(missing_docs)]

pub mod error;
pub mod job;
pub mod writer;

mod failure;
mod policy;

pub use policy::{backoff_name, exhaustion_name};
