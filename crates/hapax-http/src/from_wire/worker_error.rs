//! What a worker says went wrong, in one form whichever of five forms it came in.

use hapax_core::{Directive, Json, Timestamp, WorkerError};
use hapax_wire::error::RETRYABLE;

use super::{Fault, Given};

/// The longest class or code that is kept, in characters.
const NAME_CHARS_MAX: usize = 255;
/// The longest message that is kept, in characters.
const MESSAGE_CHARS_MAX: usize = 10_000;
/// The largest details that are kept: a job keeps its newest failures, and must stay readable.
const DETAILS_BYTES_MAX: usize = 16 * 1024;
/// Most lines of a backtrace (Core 8.1).
const BACKTRACE_LINES_MAX: usize = 50;
/// Most characters of a backtrace (Core 8.1).
const BACKTRACE_CHARS_MAX: usize = 10_000;

/// The code and class of an error that has none.
const UNNAMED: &str = "handler_error";

/// Reads the `error` of a negative acknowledgement: an object, a bare text, or nothing.
pub(super) fn worker_error(given: Option<Given<'_, '_>>) -> Result<WorkerError, Fault> {
    let Some(given) = given else { return Ok(plain("")) };
    // The serverless adapters of the JavaScript SDK send the bare message.
    if let Some(message) = given.node.as_str() {
        return Ok(plain(message));
    }
    given.expect_object("an object with code and message")?;
    let details = given.member("details");
    let class = details.as_ref().and_then(|details| details.node.get("error_class")?.as_str());
    let text = |name| given.member(name).map(|given| given.text("a string").map(cut_name)).transpose();
    let code: Option<Box<str>> = text("code")?;
    let kind = text("type")?.or_else(|| class.map(cut_name)).or_else(|| code.clone());
    let kind = kind.unwrap_or_else(|| UNNAMED.into());
    let aliases = class.filter(|class| **class != *kind).map(cut_name);
    let message = given.member("message").map(|given| message(given).into_boxed_str());
    Ok(WorkerError {
        kind,
        directive: directive(code.as_deref()),
        code: code.unwrap_or_else(|| UNNAMED.into()),
        message: message.unwrap_or_default(),
        retryable: given.member(RETRYABLE).map(|given| given.flag()).transpose()?,
        backtrace: backtrace(&given, details.as_ref()),
        details: details.map(|given| kept_details(given)),
        aliases: aliases.into_iter().collect(),
        rate_limit_until: given.member("rate_limit_until").map(until).transpose()?,
    })
}

/// Before when no job with the same rate limit shall start (Rate Limiting 9.1).
fn until(given: Given<'_, '_>) -> Result<Timestamp, Fault> {
    let text = given.text("an RFC 3339 time such as 2026-03-01T09:30:00Z")?;
    Timestamp::parse(text).map_err(|error| Fault::new(given.place, error))
}

fn plain(message: &str) -> WorkerError {
    WorkerError {
        kind: UNNAMED.into(),
        code: UNNAMED.into(),
        message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        retryable: None,
        details: None,
        backtrace: Vec::new(),
        rate_limit_until: None,
        aliases: Vec::new(),
        directive: Directive::Policy,
    }
}

/// Retry 7.3 lets a worker decide by the code.
fn directive(code: Option<&str>) -> Directive {
    match code {
        Some("DISCARD" | "FAIL") => Directive::Discard,
        Some("DEAD_LETTER") => Directive::DeadLetter,
        _ => Directive::Policy,
    }
}

fn cut_name(name: &str) -> Box<str> {
    name.chars().take(NAME_CHARS_MAX).collect()
}

/// A message that is no text is shown as the JSON it is: losing the report would be worse.
fn message(given: Given<'_, '_>) -> String {
    given.node.as_str().unwrap_or(given.node.raw).chars().take(MESSAGE_CHARS_MAX).collect()
}

fn kept_details(given: Given<'_, '_>) -> Json {
    let bytes = given.node.raw.len();
    if bytes > DETAILS_BYTES_MAX {
        return Json::from_trusted(&format!("{{\"omitted_bytes\":{bytes}}}"));
    }
    if given.node.as_object().is_none() {
        // A worker of the Go SDK that fetched such a job could not read it, nor the others of its fetch.
        return Json::from_trusted(&format!("{{\"value\":{}}}", given.node.raw));
    }
    given.node.to_json()
}

/// From `backtrace`, or from the details in which SDKs hide it.
fn backtrace(error: &Given<'_, '_>, details: Option<&Given<'_, '_>>) -> Vec<Box<str>> {
    let own = error.node.get("backtrace");
    let hidden = || {
        let details = details?.node;
        details.get("stack").or_else(|| details.get("traceback")).or_else(|| details.get("backtrace"))
    };
    let Some(node) = own.or_else(hidden) else { return Vec::new() };
    let lines: Vec<&str> = match (node.as_str(), node.as_array()) {
        (Some(text), _) => text.lines().collect(),
        (None, Some(items)) => items.iter().filter_map(|item| item.as_str()).collect(),
        (None, None) => Vec::new(),
    };
    let mut left = BACKTRACE_CHARS_MAX;
    let mut kept = Vec::new();
    for line in lines.into_iter().take(BACKTRACE_LINES_MAX) {
        let line: Box<str> = line.chars().take(left).collect();
        left -= line.chars().count();
        kept.push(line);
        if left == 0 {
            break;
        }
    }
    kept
}
