//! The members `progress` and `checkpoint` of the `ledger` column.
//!
//! JSON of clients stands there as text: an engine may take the column apart and write it anew, and what a client sent has
//! to come back as it was.

use std::borrow::Cow;

use hapax_core::{Checkpoint, Fraction, Json, Progress, Timestamp};
use serde::{Deserialize, Serialize};

use super::Unreadable;

/// How far a job has come.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reported<'a> {
    /// As text: `serde_json` reads some doubles back with another last digit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, str>>,
    at: i64,
}

/// From where it can go on.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved<'a> {
    state: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    notes: Option<Cow<'a, str>>,
    sequence: u64,
    at: i64,
}

pub(super) fn write(progress: &Progress) -> Reported<'_> {
    let Progress { value, message, data, updated_at } = progress;
    Reported {
        value: value.map(|value| value.get().to_string().into()),
        message: message.as_deref().map(Cow::Borrowed),
        data: data.as_ref().map(|data| Cow::Borrowed(data.as_str())),
        at: updated_at.millis(),
    }
}

pub(super) fn read(reported: Reported<'_>) -> Result<Progress, Unreadable> {
    let Reported { value, message, data, at } = reported;
    Ok(Progress {
        value: value.map(|value| fraction(&value)).transpose()?,
        message: message.map(Into::into),
        data: data.map(|data| json(&data)).transpose()?,
        updated_at: Timestamp::from_millis(at),
    })
}

pub(super) fn write_checkpoint(checkpoint: &Checkpoint) -> Saved<'_> {
    let Checkpoint { state, notes, sequence, saved_at } = checkpoint;
    Saved {
        state: Cow::Borrowed(state.as_str()),
        notes: Some(notes.as_str()).filter(|notes| *notes != "{}").map(Cow::Borrowed),
        sequence: *sequence,
        at: saved_at.millis(),
    }
}

pub(super) fn read_checkpoint(saved: Saved<'_>) -> Result<Checkpoint, Unreadable> {
    let Saved { state, notes, sequence, at } = saved;
    let notes = notes.map(|notes| json(&notes)).transpose()?;
    Ok(Checkpoint {
        state: json(&state)?,
        notes: notes.unwrap_or_else(Json::empty_object),
        sequence,
        saved_at: Timestamp::from_millis(at),
    })
}

fn fraction(text: &str) -> Result<Fraction, Unreadable> {
    let number: f64 = text.parse().map_err(|_| Unreadable)?;
    let fraction = Fraction::clamped(number);
    if fraction.get().to_bits() == number.to_bits() { Ok(fraction) } else { Err(Unreadable) }
}

fn json(text: &str) -> Result<Json, Unreadable> {
    let _: serde::de::IgnoredAny = serde_json::from_str(text)?;
    Ok(Json::from_trusted(text))
}
