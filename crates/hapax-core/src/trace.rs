//! W3C Trace Context: the step of a trace to which a job belongs, if it says so.

use crate::Json;
use crate::json::{self, Limits};

/// The member of `meta` that names the trace and the step.
pub const TRACE_PARENT_MEMBER: &str = "traceparent";
/// The member of `meta` that goes with it.
pub const TRACE_STATE_MEMBER: &str = "tracestate";
/// Longest `tracestate`: what W3C Trace Context asks everybody to carry.
pub const TRACE_STATE_BYTES_MAX: usize = 512;

const SAMPLED: u8 = 1;

/// A trace, and the step of it that caused what carries this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace; not all zero.
    pub trace_id: [u8; 16],
    /// The step; not all zero.
    pub span_id: [u8; 8],
    /// What was decided about the trace.
    pub flags: u8,
}

/// What a job says of its trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// To which step of which trace it belongs.
    pub parent: TraceParent,
    /// What those who follow traces want to have carried along.
    pub state: Option<Box<str>>,
}

impl TraceParent {
    /// Reads `00-` + 32 digits + `-` + 16 digits + `-` + 2 digits; a later version may have more after that.
    pub fn parse(text: &str) -> Option<TraceParent> {
        let parts: Vec<&str> = text.splitn(5, '-').collect();
        let [version, trace, span, flags, rest @ ..] = parts.as_slice() else { return None };
        let [version] = digits(version)?;
        let parent =
            TraceParent { trace_id: digits(trace)?, span_id: digits(span)?, flags: digits::<1>(flags)?[0] };
        let is_named = parent.trace_id != [0; 16] && parent.span_id != [0; 8];
        let has_right_length = rest.is_empty() || version != 0;
        (version != 0xff && is_named && has_right_length).then_some(parent)
    }

    /// Whether who began the trace wants it to be kept.
    pub const fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl TraceContext {
    /// What this metadata says.
    pub fn of(meta: &Json) -> Option<TraceContext> {
        // Most jobs have none, and reading all of the metadata to find that out would cost more.
        if !meta.as_str().contains(TRACE_PARENT_MEMBER) {
            return None;
        }
        let node = json::read(meta.as_str(), Limits::STORED).ok()?;
        let parent = TraceParent::parse(node.get(TRACE_PARENT_MEMBER)?.as_str()?)?;
        let state = node.get(TRACE_STATE_MEMBER).and_then(|node| node.as_str());
        Some(TraceContext {
            parent,
            state: state.filter(|state| state.len() <= TRACE_STATE_BYTES_MAX).map(Box::from),
        })
    }
}

/// Bytes from twice as many digits, in lower case.
fn digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn of(meta: &str) -> Option<TraceContext> {
        TraceContext::of(&Json::from_trusted(meta))
    }

    #[test]
    fn a_trace_and_its_step_are_read() {
        let parent = TraceParent::parse(PARENT).unwrap();
        assert_eq!((parent.trace_id[0], parent.trace_id[15]), (0x4b, 0x36));
        assert_eq!(parent.span_id, [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert!(parent.is_sampled());
        assert!(!TraceParent::parse(&PARENT.replace("-01", "-02")).unwrap().is_sampled());
        assert_eq!(TraceParent::parse(&format!("{}-more", PARENT.replace("00-4", "01-4"))), Some(parent));
    }

    #[test]
    fn what_has_another_form_is_no_trace() {
        for wrong in [
            "",
            "00-4bf9-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e473ä-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceParent::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_job_belongs_to_the_trace_that_its_own_metadata_names() {
        let context = of(&format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1"}}"#)).unwrap();
        assert_eq!(
            (Some(context.parent), context.state.as_deref()),
            (TraceParent::parse(PARENT), Some("a=1"))
        );
        assert_eq!(of(&format!(r#"{{"x":{{"traceparent":"{PARENT}"}}}}"#)), None);
        assert_eq!(of(r#"{"traceparent":7}"#), None);
        assert_eq!(of(r#"{"tracestate":"a=1"}"#), None);
        let long = "a".repeat(TRACE_STATE_BYTES_MAX + 1);
        let context = of(&format!(r#"{{"traceparent":"{PARENT}","tracestate":"{long}"}}"#)).unwrap();
        assert_eq!(context.state, None);
    }
}
