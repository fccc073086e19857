//! A span, in the shape that OTLP has for it in JSON.

use hapax_core::{Timestamp, TraceContext};
use serde::{Serialize, Serializer};

use crate::id::{SpanId, TraceId};

/// A piece of work.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "they are the names on the wire")]
pub(crate) struct Span {
    pub(crate) trace_id: TraceId,
    pub(crate) span_id: SpanId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_span_id: Option<SpanId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace_state: Option<Box<str>>,
    pub(crate) flags: u32,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    #[serde(serialize_with = "nanoseconds")]
    pub(crate) start_time_unix_nano: Timestamp,
    #[serde(serialize_with = "nanoseconds")]
    pub(crate) end_time_unix_nano: Timestamp,
    pub(crate) attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Status>,
}

/// The part that a span plays. Numbers, as the JSON form of OTLP wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Producer = 4,
    Consumer = 5,
}

/// A fact.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Attribute {
    pub(crate) key: &'static str,
    pub(crate) value: Value,
}

/// The value of a fact.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Value {
    StringValue(Box<str>),
    /// As text: a reader of JSON may have no integers of 64 bits.
    #[serde(serialize_with = "digits")]
    IntValue(i64),
}

/// The step of a trace that caused this one from afar.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    trace_id: TraceId,
    span_id: SpanId,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_state: Option<Box<str>>,
    flags: u32,
}

/// How it went.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Status {
    code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Box<str>>,
}

impl Attribute {
    pub(crate) fn text(key: &'static str, text: impl Into<Box<str>>) -> Attribute {
        Attribute { key, value: Value::StringValue(text.into()) }
    }

    pub(crate) fn number(key: &'static str, number: impl Into<i64>) -> Attribute {
        Attribute { key, value: Value::IntValue(number.into()) }
    }
}

impl Link {
    pub(crate) fn to(context: &TraceContext) -> Link {
        let TraceContext { parent, state } = context;
        Link {
            trace_id: TraceId(parent.trace_id),
            span_id: SpanId(parent.span_id),
            trace_state: state.clone(),
            flags: parent.flags.into(),
        }
    }
}

impl Status {
    pub(crate) const OK: Status = Status { code: 1, message: None };

    pub(crate) fn error(message: &str) -> Status {
        Status { code: 2, message: Some(message.into()) }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

/// There is no time before 1970 on this wire.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields like this")]
fn nanoseconds<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    let millis = u64::try_from(at.millis()).unwrap_or(0);
    serializer.collect_str(&millis.saturating_mul(1_000_000))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields like this")]
fn digits<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}
