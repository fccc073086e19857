//! The time zone whose clocks a schedule follows.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase, TimeZoneName};

use super::error::excerpt;
use crate::{Timestamp, nearest};

/// A time zone of the IANA database that the build carries: no machine can differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// A text that names no zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ZoneError {
    #[error("the time zone is empty: write an IANA name such as Europe/Berlin, or UTC")]
    Empty,
    #[error(
        "\"{0}\" is an offset, which knows nothing of summer time: write an IANA name such as Europe/Berlin"
    )]
    Offset(Box<str>),
    #[error("\"{0}\" is an abbreviation with several meanings: write an IANA name such as America/New_York")]
    Abbreviation(Box<str>),
    #[error(
        "\"{text}\" is no time zone of the IANA database, such as Europe/Berlin or UTC{}",
        .meant.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default()
    )]
    Unknown { text: Box<str>, meant: Option<Box<str>> },
}

/// Whether and when clocks show a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    At(Timestamp),
    /// Not at all, or not for the first time; nor anything from there to this time.
    Not {
        until: DateTime,
    },
}

/// Clocks that go forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Jump {
    pub(super) at: Timestamp,
    /// The first time they do not show.
    pub(super) from: DateTime,
    /// The first time they show again.
    pub(super) to: DateTime,
}

/// Names of the database that Cron 5.1 forbids, or that stand for no place.
const REFUSED: &[&str] = &["EST", "MST", "HST", "Factory", "Etc/Unknown"];

/// Longer names are no abbreviations.
const ABBREVIATION_LENGTH_MAX: usize = 5;

impl Zone {
    /// Reads an IANA name; the case of letters does not count.
    pub fn parse(text: &str) -> Result<Zone, ZoneError> {
        match TimeZoneDatabase::bundled().get(text) {
            Ok(zone) if !is_refused(text) => Ok(Zone(zone)),
            _ => Err(refusal(text)),
        }
    }

    /// The zone of schedules that name none.
    pub const UTC: Zone = Zone(TimeZone::UTC);

    /// The name as the database spells it.
    pub fn name(&self) -> &str {
        // Every zone comes from the database and has its name from there.
        self.0.iana_name().unwrap_or("UTC")
    }

    /// What clocks show at this moment, in whole seconds.
    pub(super) fn clock(&self, at: Timestamp) -> Option<DateTime> {
        let shown = self.0.to_datetime(jiff::Timestamp::from_millisecond(at.millis()).ok()?);
        shown.with().subsec_nanosecond(0).build().ok()
    }

    /// What clocks show at this moment and how far they are ahead of UTC, such as `2026-03-29T03:30:00+02:00`.
    pub fn local(&self, at: Timestamp) -> Option<String> {
        let offset = self.0.to_offset(jiff::Timestamp::from_millisecond(at.millis()).ok()?).seconds();
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
        Some(format!("{}{sign}{:02}:{:02}", self.clock(at)?, minutes / 60, minutes % 60))
    }

    /// When clocks show this time for the first time, if that is after a moment. Nothing at the end of the calendar.
    pub(super) fn first_showing(&self, local: DateTime, after: Timestamp) -> Option<Shown> {
        let offset = match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => return Some(Shown::At(moment(local, offset)?)),
            AmbiguousOffset::Gap { after, .. } => after,
            AmbiguousOffset::Fold { before, .. } => {
                let first = moment(local, before)?;
                if first > after {
                    return Some(Shown::At(first));
                }
                before
            }
        };
        // The greater of the two offsets: by it, the time lies before the change, and the change is at the end of
        // the gap or fold.
        let change = self.0.following(offset.to_timestamp(local).ok()?).next()?;
        Some(Shown::Not { until: offset.to_datetime(change.timestamp()) })
    }

    /// The jumps after a moment and up to another.
    pub(super) fn jumps(&self, after: Timestamp, until: Timestamp) -> impl Iterator<Item = Jump> {
        let start = jiff::Timestamp::from_millisecond(after.millis()).ok();
        let changes = start.into_iter().flat_map(|start| self.0.following(start));
        let in_time = changes.map_while(move |change| {
            let at = Timestamp::from_millis(change.timestamp().as_millisecond());
            (at <= until).then_some((at, change))
        });
        in_time.filter_map(|(at, change)| {
            let moment = change.timestamp();
            let before = self.0.to_offset(moment.checked_sub(SignedDuration::from_secs(1)).ok()?);
            let jump = Jump { at, from: before.to_datetime(moment), to: change.offset().to_datetime(moment) };
            (jump.from < jump.to).then_some(jump)
        })
    }
}

impl Default for Zone {
    fn default() -> Zone {
        Zone::UTC
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn moment(local: DateTime, offset: Offset) -> Option<Timestamp> {
    Some(Timestamp::from_millis(offset.to_timestamp(local).ok()?.as_millisecond()))
}

fn refusal(text: &str) -> ZoneError {
    let is_short = text.len() <= ABBREVIATION_LENGTH_MAX;
    if text.trim_ascii().is_empty() {
        ZoneError::Empty
    } else if text.contains(|c: char| c.is_ascii_digit()) && !text.contains('/') {
        ZoneError::Offset(excerpt(text))
    } else if is_short && (is_refused(text) || text.bytes().all(|b| b.is_ascii_uppercase())) {
        ZoneError::Abbreviation(excerpt(text))
    } else {
        ZoneError::Unknown { text: excerpt(text), meant: meant(text) }
    }
}

fn is_refused(name: &str) -> bool {
    REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(name))
}

/// The zone of that city, or the name that is nearest.
fn meant(text: &str) -> Option<Box<str>> {
    let database = TimeZoneDatabase::bundled();
    let all: Vec<TimeZoneName<'_>> = database.available().collect();
    let names: Vec<&str> = all.iter().map(TimeZoneName::as_str).filter(|name| !is_refused(name)).collect();
    let city = text.replace(' ', "_");
    let is_there =
        |name: &&&str| name.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
    let found = names.iter().find(is_there).copied().or_else(|| nearest(text, &names));
    found.map(Into::into)
}
