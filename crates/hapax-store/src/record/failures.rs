//! The `errors` column: what went wrong, as JSON.

use std::borrow::Cow;

use hapax_core::{Failure, History, Json, Overrun, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Unreadable, json, millis, span};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors<'a> {
    current: bool,
    #[serde(borrow)]
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<'a> {
    attempt: u32,
    kind: Cow<'a, str>,
    code: Cow<'a, str>,
    message: Cow<'a, str>,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
    details: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    backtrace: Vec<Cow<'a, str>>,
    /// A limit on time and how long it was, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overrun: Option<(i64, i64)>,
}

/// The text for the column.
pub fn write(history: &History) -> Option<String> {
    if history.entries().is_empty() {
        return None;
    }
    let entries = history.entries().iter().map(write_failure).collect();
    Some(json(&Errors { current: history.current().is_some(), entries }))
}

fn write_failure(failure: &Failure) -> Entry<'_> {
    let Failure { attempt, kind, code, message, occurred_at, retryable, details, backtrace, overrun } =
        failure;
    Entry {
        attempt: *attempt,
        kind: Cow::Borrowed(kind),
        code: Cow::Borrowed(code),
        message: Cow::Borrowed(message),
        at: occurred_at.millis(),
        retryable: *retryable,
        details: details.as_ref().map(raw),
        backtrace: backtrace.iter().map(|line| Cow::Borrowed(&**line)).collect(),
        overrun: overrun.map(|Overrun { limit, elapsed }| (millis(limit), millis(elapsed))),
    }
}

#[expect(clippy::expect_used, reason = "the strict reader accepts a part of what serde_json accepts")]
fn raw(json: &Json) -> &RawValue {
    serde_json::from_str(json.as_str()).expect("a Json holds one valid value")
}

/// What the text says.
pub fn read(text: Option<&str>) -> Result<History, Unreadable> {
    let Some(text) = text else { return Ok(History::default()) };
    let Errors { current, entries } = serde_json::from_str(text)?;
    let entries = entries.into_iter().map(read_failure).collect::<Result<_, _>>()?;
    Ok(History::restored(entries, current))
}

fn read_failure(entry: Entry<'_>) -> Result<Failure, Unreadable> {
    let Entry { attempt, kind, code, message, at, retryable, details, backtrace, overrun } = entry;
    let read_overrun = |(limit, elapsed)| -> Result<Overrun, Unreadable> {
        Ok(Overrun { limit: span(limit)?, elapsed: span(elapsed)? })
    };
    Ok(Failure {
        attempt,
        kind: kind.into(),
        code: code.into(),
        message: message.into(),
        occurred_at: Timestamp::from_millis(at),
        retryable,
        details: details.map(|raw| Json::from_trusted(raw.get())),
        backtrace: backtrace.into_iter().map(Into::into).collect(),
        overrun: overrun.map(read_overrun).transpose()?,
    })
}
