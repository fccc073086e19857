//! The `ledger` column: what a job turned away as the holder of its key, how it lost the key, and from when its
//! start was moved, as JSON. NULL for most jobs.

use std::borrow::Cow;

use hapax_core::unique::{Ledger, LedgerEntry, Release, Releaser};
use hapax_core::{Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use super::options::Unreadable;
use super::policy::{json, named};

/// What the column is about.
#[derive(Debug, Default)]
pub(super) struct Holding {
    pub(super) ledger: Ledger,
    pub(super) released: Option<Release>,
    pub(super) first_start: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column<'a> {
    #[serde(default, skip_serializing_if = "is_zero")]
    count: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recent: Vec<Duplicate<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    released: Option<Released<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_start: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Duplicate<'a> {
    at: i64,
    outcome: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Released<'a> {
    at: i64,
    key: Cow<'a, str>,
    by: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(super) fn write(
    ledger: &Ledger,
    released: Option<&Release>,
    first_start: Option<Timestamp>,
) -> Option<String> {
    if ledger.count() == 0 && released.is_none() && first_start.is_none() {
        return None;
    }
    Some(json(&Column {
        count: ledger.count(),
        recent: ledger.recent().iter().map(write_entry).collect(),
        released: released.map(write_release),
        first_start: first_start.map(Timestamp::millis),
    }))
}

fn write_entry(entry: &LedgerEntry) -> Duplicate<'_> {
    let LedgerEntry { at, outcome, request_id } = entry;
    let request_id = request_id.as_deref().map(Cow::Borrowed);
    Duplicate { at: at.millis(), outcome: Cow::Borrowed(outcome), request_id }
}

fn write_release(release: &Release) -> Released<'_> {
    let Release { at, key, by, reason } = release;
    Released {
        at: at.millis(),
        key: Cow::Owned(key.to_string()),
        by: Cow::Borrowed(by.name()),
        reason: reason.as_deref().map(Cow::Borrowed),
    }
}

pub(super) fn read(text: Option<&str>) -> Result<Holding, Unreadable> {
    let Some(text) = text else { return Ok(Holding::default()) };
    let Column { count, recent, released, first_start } = serde_json::from_str(text)?;
    let recent = recent.into_iter().map(read_entry).collect::<Result<_, _>>()?;
    Ok(Holding {
        ledger: Ledger::restored(count, recent),
        released: released.map(read_release).transpose()?,
        first_start: first_start.map(Timestamp::from_millis),
    })
}

fn read_entry(entry: Duplicate<'_>) -> Result<LedgerEntry, Unreadable> {
    let Duplicate { at, outcome, request_id } = entry;
    let outcome = outcome_named(&outcome).ok_or(Unreadable)?;
    Ok(LedgerEntry { at: Timestamp::from_millis(at), outcome, request_id: request_id.map(Into::into) })
}

fn read_release(released: Released<'_>) -> Result<Release, Unreadable> {
    let Released { at, key, by, reason } = released;
    Ok(Release {
        at: Timestamp::from_millis(at),
        key: key.parse().map_err(|()| Unreadable)?,
        by: named(Some(by), &Releaser::ALL, Releaser::name)?.ok_or(Unreadable)?,
        reason: reason.map(Into::into),
    })
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

#[cfg(test)]
mod tests;
