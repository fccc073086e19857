//! The names of traces and spans.
//!
//! They follow from the job, so that whichever server sees an attempt end knows the span that it belongs under, and a span
//! that is sent twice is the same one.

use std::fmt;

use hapax_core::JobId;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The name of a trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId(pub(crate) [u8; 16]);

/// The name of a span in its trace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanId(pub(crate) [u8; 8]);

impl TraceId {
    /// The trace of a job that belongs to no other. It has the digits of the job's own id, and can be found by it.
    pub(crate) fn of(job: JobId) -> TraceId {
        TraceId(*job.bytes())
    }
}

impl SpanId {
    /// The span in which the job came to be.
    pub(crate) fn of_enqueue(job: JobId) -> SpanId {
        SpanId::of(job, 0)
    }

    /// The span of that delivery of the job, counted from 1.
    pub(crate) fn of_delivery(job: JobId, fence: u64) -> SpanId {
        SpanId::of(job, fence)
    }

    fn of(job: JobId, number: u64) -> SpanId {
        let digest = Sha256::new().chain_update(job.bytes()).chain_update(number.to_be_bytes()).finalize();
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[..8]);
        // All zero would be no name.
        bytes[7] |= u8::from(bytes == [0; 8]);
        SpanId(bytes)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(&self.0, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(&self.0, f)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(&self.0, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        digits(&self.0, f)
    }
}

impl Serialize for TraceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for SpanId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The JSON form of OTLP has names as digits, where that of protobuf would have Base64.
fn digits(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
