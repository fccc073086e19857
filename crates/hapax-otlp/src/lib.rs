//! Tells a collector of OpenTelemetry what happens to jobs, as spans: OTLP over HTTP, in JSON.
//!
//! Nothing here is in anybody's way. What happens is read from the log that the broker keeps for all who want to know,
//! some time after it happened; that log is the buffer, and it is bounded. While a collector does not answer, events wait
//! there, and those that it forgets are counted.
#![warn(missing_docs)]

mod attempts;
mod batch;
mod collector;
mod exporter;
mod id;
mod reader;
mod sender;
mod settings;
mod span;
mod tally;
#[cfg(test)]
mod testing;

pub use exporter::Exporter;
pub use settings::{EndpointError, HeadersError, Settings};
pub use tally::{SpanCount, SpanCounter};
