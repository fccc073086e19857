//! Everything that a store holds as lines of JSON, for the way from one engine to another.
//!
//! ```text
//! {"hapax_export":1,…}    what this is
//! {"kind":"queue",…}      queues by name,
//! {"kind":"job",…}        jobs in the order of acceptance,
//! {"kind":"entry",…}      named things beside the jobs,
//! {"kind":"memo",…}       remembered answers, the oldest first
//! {"kind":"end",…}        how many there were, and their checksum
//! ```
//!
//! The order of the lines and the text of each follow from what is in the store and not from the engine, so that two
//! stores with the same contents have the same checksum. Times and spans are milliseconds, as in the tables.

mod census;
mod export;
mod fault;
mod header;
mod hex;
mod import;
mod item;
mod job;
mod members;
mod object;
mod order;
mod reader;
mod writer;

pub use census::{Census, Seal};
pub use export::{ExportError, Occasion, Source, export};
pub use fault::{JsonFault, LineFault};
pub use header::{ExportId, FORMAT, Header};
pub use import::{Batch, ImportError, Mark, Target, import};
pub use item::{Item, Queue};
pub use reader::{LINE_BYTES_MAX, Reader};
pub use writer::Writer;

#[cfg(test)]
mod tests;
