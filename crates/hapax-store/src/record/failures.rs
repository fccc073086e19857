//! The `errors` column: what went wrong, as JSON.

use std::borrow::Cow;

use hapax_core::{Failure, History, Json, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Unreadable, json};

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
    let Failure { attempt, kind, code, message, occurred_at, retryable, details, backtrace } = failure;
    Entry {
        attempt: *attempt,
        kind: Cow::Borrowed(kind),
        code: Cow::Borrowed(code),
        message: Cow::Borrowed(message),
        at: occurred_at.millis(),
        retryable: *retryable,
        details: details.as_ref().map(raw),
        backtrace: backtrace.iter().map(|line| Cow::Borrowed(&**line)).collect(),
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
    Ok(History::restored(entries.into_iter().map(read_failure).collect(), current))
}

fn read_failure(entry: Entry<'_>) -> Failure {
    let Entry { attempt, kind, code, message, at, retryable, details, backtrace } = entry;
    Failure {
        attempt,
        kind: kind.into(),
        code: code.into(),
        message: message.into(),
        occurred_at: Timestamp::from_millis(at),
        retryable,
        details: details.map(|raw| Json::from_trusted(raw.get())),
        backtrace: backtrace.into_iter().map(Into::into).collect(),
    }
}
