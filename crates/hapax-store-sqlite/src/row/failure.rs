//! The `errors` and `ledger` columns: what went wrong, and what was turned away, as JSON.

use std::borrow::Cow;

use hapax_core::unique::{Ledger, LedgerEntry};
use hapax_core::{Failure, History, Json, Timestamp, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::options::Unreadable;
use super::policy::json;

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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Duplicates<'a> {
    count: u64,
    recent: Vec<Duplicate<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Duplicate<'a> {
    at: i64,
    outcome: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<Cow<'a, str>>,
}

pub(super) fn write_history(history: &History) -> Option<String> {
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

pub(super) fn read_history(text: Option<&str>) -> Result<History, Unreadable> {
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

pub(super) fn write_ledger(ledger: &Ledger) -> Option<String> {
    if ledger.count() == 0 {
        return None;
    }
    let entry = |entry: &LedgerEntry| {
        let LedgerEntry { at, outcome, request_id } = entry;
        let request_id = request_id.as_deref().map(|id| Cow::Owned(id.to_owned()));
        Duplicate { at: at.millis(), outcome: Cow::Borrowed(outcome), request_id }
    };
    Some(json(&Duplicates { count: ledger.count(), recent: ledger.recent().iter().map(entry).collect() }))
}

pub(super) fn read_ledger(text: Option<&str>) -> Result<Ledger, Unreadable> {
    let Some(text) = text else { return Ok(Ledger::default()) };
    let Duplicates { count, recent } = serde_json::from_str(text)?;
    let entry = |entry: Duplicate<'_>| {
        let Duplicate { at, outcome, request_id } = entry;
        let outcome = outcome_named(&outcome).ok_or(Unreadable)?;
        Ok(LedgerEntry { at: Timestamp::from_millis(at), outcome, request_id: request_id.map(Into::into) })
    };
    Ok(Ledger::restored(count, recent.into_iter().map(entry).collect::<Result<_, Unreadable>>()?))
}

/// The verdict that a ledger names, as the text that lives for ever.
fn outcome_named(name: &str) -> Option<&'static str> {
    let all = [
        Verdict::Created,
        Verdict::Replaced(Vec::new()),
        Verdict::Existing,
        Verdict::Updated(Vec::new()),
        Verdict::Rejected,
    ];
    all.iter().map(Verdict::name).find(|known| *known == name)
}
