//! A failed attempt as clients see it.

use hapax_core::{Failure, Overrun};

use crate::writer::Object;

/// The members of one failure. `type` and `message` are always strings: the Rust SDK reads nothing else.
pub fn members(o: &mut Object<'_>, failure: &Failure) {
    let Failure { attempt, kind, code, message, occurred_at, retryable, details, backtrace, overrun } =
        failure;
    o.text("type", kind);
    o.text("message", message);
    o.text("code", code);
    if let Some(retryable) = retryable {
        o.flag("retryable", *retryable);
    }
    o.number("attempt", attempt);
    // The retry document calls it timestamp, the error document occurred_at.
    o.moment("occurred_at", *occurred_at);
    o.moment("timestamp", *occurred_at);
    if let Some(details) = details {
        o.raw("details", details.as_str());
    }
    if !backtrace.is_empty() {
        o.texts("backtrace", backtrace.iter().map(|line| &**line));
    }
    if let Some(Overrun { limit, elapsed }) = overrun {
        o.text("timeout_kind", timeout_kind(kind));
        o.number("limit_seconds", limit.as_secs_f64());
        o.number("elapsed_seconds", elapsed.as_secs_f64());
    }
}

/// Which limit was passed, in the words of Timeouts 8.
pub fn timeout_kind(error: &str) -> &'static str {
    match error {
        "total_timeout" => "total",
        "enqueue_ttl_expired" => "enqueue_ttl",
        "stalled" => "stalled",
        _ => "execution",
    }
}
