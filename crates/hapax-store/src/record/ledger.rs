//! The `ledger` column: what a job turned away as the holder of its key, how it lost the key, from when its start was
//! moved, how far it has come, from where it can go on, and when it began anew, as JSON. NULL for most jobs.
//!
//! Duplicates are written shortly, since the whole row is written again for each of them, and with it pages of the log.

mod request_name;

use std::borrow::Cow;

use hapax_core::unique::{Ledger, LedgerEntry, Release, Releaser};
use hapax_core::{Checkpoint, Progress, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use super::progress::{self, Reported, Saved};
use super::{Unreadable, json, named};

/// What the column is about.
#[derive(Debug, Default)]
pub struct Holding {
    /// What the job turned away.
    pub ledger: Ledger,
    /// How it lost its key.
    pub released: Option<Release>,
    /// When it was to start before duplicates moved that.
    pub first_start: Option<Timestamp>,
    /// How far it has come.
    pub progress: Option<Progress>,
    /// From where it can go on.
    pub checkpoint: Option<Checkpoint>,
    /// When it began anew.
    pub begun_at: Option<Timestamp>,
}

/// The same, where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Held<'j> {
    /// What the job turned away.
    pub ledger: &'j Ledger,
    /// How it lost its key.
    pub released: Option<&'j Release>,
    /// When it was to start before duplicates moved that.
    pub first_start: Option<Timestamp>,
    /// How far it has come.
    pub progress: Option<&'j Progress>,
    /// From where it can go on.
    pub checkpoint: Option<&'j Checkpoint>,
    /// When it began anew.
    pub begun_at: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column<'a> {
    #[serde(default)]
    count: u64,
    #[serde(default)]
    recent: Vec<Entry<'a>>,
    #[serde(default)]
    released: Option<Released<'a>>,
    #[serde(default)]
    first_start: Option<i64>,
    #[serde(default)]
    progress: Option<Reported<'a>>,
    #[serde(default)]
    checkpoint: Option<Saved<'a>>,
    #[serde(default)]
    begun_at: Option<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry<'a> {
    /// Milliseconds since the entry before, the outcome, and which request brought it.
    Short(i64, Cow<'a, str>, #[serde(default)] Option<Cow<'a, str>>),
    /// As formats 1 and 2 have it.
    Long(Duplicate<'a>),
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

/// The text for the column. By hand: a ledger is written again for each duplicate, and this takes 40 % of the instructions that serde takes.
pub fn write(held: Held<'_>) -> Option<String> {
    /// An entry whose request the server named.
    const EACH: usize = 40;

    let Held { ledger, released, first_start, progress, checkpoint, begun_at } = held;
    let is_plain = released.is_none()
        && first_start.is_none()
        && progress.is_none()
        && checkpoint.is_none()
        && begun_at.is_none();
    if ledger.count() == 0 && is_plain {
        return None;
    }
    let mut out = String::with_capacity((ledger.recent().len() + 1) * EACH);
    out.push_str("{\"count\":");
    write_number(&mut out, ledger.count());
    out.push_str(",\"recent\":[");
    let mut before = 0;
    for (index, entry) in ledger.recent().iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        write_entry(&mut out, entry, before);
        before = entry.at.millis();
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
    if let Some(progress) = progress {
        out.push_str(",\"progress\":");
        out.push_str(&json(&progress::write(progress)));
    }
    if let Some(checkpoint) = checkpoint {
        out.push_str(",\"checkpoint\":");
        out.push_str(&json(&progress::write_checkpoint(checkpoint)));
    }
    if let Some(begun) = begun_at {
        out.push_str(",\"begun_at\":");
        write_number(&mut out, begun.millis());
    }
    out.push('}');
    Some(out)
}

fn write_entry(out: &mut String, entry: &LedgerEntry, before: i64) {
    let LedgerEntry { at, outcome, request_id } = entry;
    out.push('[');
    // Wraps back on the way in, if ever.
    write_number(out, at.millis().wrapping_sub(before));
    out.push_str(",\"");
    out.push_str(LETTERS.iter().find(|(_, name)| name == outcome).map_or(*outcome, |(letter, _)| letter));
    out.push_str("\",");
    match request_id {
        Some(id) => request_name::write(out, id),
        None => out.push_str("null"),
    }
    out.push(']');
}

fn write_number(out: &mut String, number: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(number));
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

/// What the text says.
pub fn read(text: Option<&str>) -> Result<Holding, Unreadable> {
    let Some(text) = text else { return Ok(Holding::default()) };
    let Column { count, recent, released, first_start, progress, checkpoint, begun_at } =
        serde_json::from_str(text)?;
    let mut before = 0;
    let entry = |entry| {
        let entry = read_entry(entry, before)?;
        before = entry.at.millis();
        Ok(entry)
    };
    let recent = recent.into_iter().map(entry).collect::<Result<_, Unreadable>>()?;
    Ok(Holding {
        ledger: Ledger::restored(count, recent),
        released: released.map(read_release).transpose()?,
        first_start: first_start.map(Timestamp::from_millis),
        progress: progress.map(progress::read).transpose()?,
        checkpoint: checkpoint.map(progress::read_checkpoint).transpose()?,
        begun_at: begun_at.map(Timestamp::from_millis),
    })
}

fn read_entry(entry: Entry<'_>, before: i64) -> Result<LedgerEntry, Unreadable> {
    let (at, outcome, request_id) = match entry {
        Entry::Short(passed, outcome, name) => {
            let name = name.map(|name| request_name::read(&name)).transpose()?;
            (before.wrapping_add(passed), outcome, name)
        }
        Entry::Long(Duplicate { at, outcome, request_id }) => (at, outcome, request_id.map(Into::into)),
    };
    let outcome = outcome_named(&outcome).ok_or(Unreadable)?;
    Ok(LedgerEntry { at: Timestamp::from_millis(at), outcome, request_id })
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

/// How the outcomes are written that a ledger usually has.
const LETTERS: [(&str, &str); 3] = [("e", "existing"), ("u", "updated"), ("r", "rejected")];

/// The verdict that a ledger names, as the text that lives for ever.
fn outcome_named(written: &str) -> Option<&'static str> {
    let all = [
        Verdict::Created,
        Verdict::Replaced(Vec::new()),
        Verdict::Existing,
        Verdict::Updated(Vec::new()),
        Verdict::Rejected,
    ];
    let letter = LETTERS.iter().find(|(letter, _)| *letter == written).map(|(_, name)| *name);
    letter.or_else(|| all.iter().map(Verdict::name).find(|known| *known == written))
}

#[cfg(test)]
mod tests;
