//! The `ledger` column: what a job turned away as the holder of its key, how it lost the key, and from when its
//! start was moved, as JSON. NULL for most jobs.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column<'a> {
    #[serde(default)]
    count: u64,
    #[serde(default)]
    recent: Vec<Duplicate<'a>>,
    #[serde(default)]
    released: Option<Released<'a>>,
    #[serde(default)]
    first_start: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Duplicate<'a> {
    at: i64,
    outcome: Cow<'a, str>,
    #[serde(default)]
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

/// By hand: a ledger is written again for each duplicate, and this takes 40 % of the instructions that serde takes.
pub(super) fn write(
    ledger: &Ledger,
    released: Option<&Release>,
    first_start: Option<Timestamp>,
) -> Option<String> {
    /// An entry with its names.
    const EACH: usize = 112;

    if ledger.count() == 0 && released.is_none() && first_start.is_none() {
        return None;
    }
    let mut out = String::with_capacity((ledger.recent().len() + 1) * EACH);
    out.push_str("{\"count\":");
    write_number(&mut out, ledger.count());
    out.push_str(",\"recent\":[");
    for (index, entry) in ledger.recent().iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        write_entry(&mut out, entry);
    }
    out.push(']');
    if let Some(release) = released {
        out.push_str(",\"released\":");
        out.push_str(&json(&write_release(release)));
    }
    if let Some(start) = first_start {
        out.push_str(",\"first_start\":");
        write_number(&mut out, start.millis());
    }
    out.push('}');
    Some(out)
}

fn write_entry(out: &mut String, entry: &LedgerEntry) {
    let LedgerEntry { at, outcome, request_id } = entry;
    out.push_str("{\"at\":");
    write_number(out, at.millis());
    out.push_str(",\"outcome\":\"");
    out.push_str(outcome);
    out.push('"');
    if let Some(id) = request_id {
        out.push_str(",\"request_id\":");
        write_text(out, id);
    }
    out.push('}');
}

fn write_number(out: &mut String, number: impl Display) {
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok(), "memory takes every write");
}

/// Names of requests are visible characters (those that clients choose, too), but may have to be escaped.
fn write_text(out: &mut String, text: &str) {
    let needs_escapes = |byte| byte < b' ' || byte == b'"' || byte == b'\\';
    if text.bytes().fold(false, |found, byte| found | needs_escapes(byte)) {
        return out.push_str(&json(&text));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
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
