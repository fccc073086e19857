//! When something is due: by an expression or by an interval.

use jiff::ToSpan as _;

use super::calendar::Calendar;
use super::error::{ScheduleError, excerpt};
use super::interval::Interval;
use super::zone::{Shown, Zone};
use crate::{Timestamp, nearest};

/// A schedule as described at [the module](super).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Calendar(Calendar),
    Interval(Interval),
}

/// A time of the schedule that clocks jumped over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// When they jumped.
    pub at: Timestamp,
    /// The first time that was skipped, as clocks would have shown it, such as `2026-03-29T02:30:00`.
    pub local: Box<str>,
}

/// The longest text: every value of every field, spelt out, is shorter.
pub(super) const TEXT_LENGTH_MAX: usize = 1024;

/// How far ahead a run is looked for. The rarest expression, a fifth weekday in February, has at most 40 years between
/// two runs; what is not due in this time is so because clocks jump over it each time.
const HORIZON_YEARS: i16 = 100;

/// How many changes of the clocks may hide a tick before the search gives up: more than any zone has in that time.
pub(super) const CHANGES_MAX: usize = 1000;

const EVERY: &str = "@every";
const ALIASES: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

impl Schedule {
    /// Reads an expression, an alias or an interval.
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        if text.len() > TEXT_LENGTH_MAX {
            return Err(ScheduleError::TooLong);
        }
        let text = text.trim_ascii();
        if text.is_empty() {
            return Err(ScheduleError::Empty);
        }
        // Other crons take it there.
        if let Some(rest) = ["CRON_TZ=", "TZ="].iter().find_map(|prefix| text.strip_prefix(prefix)) {
            let zone = rest.split_ascii_whitespace().next().unwrap_or_default();
            return Err(ScheduleError::ZoneInside { zone: excerpt(zone) });
        }
        if !text.starts_with('@') {
            return Ok(Schedule(Kind::Calendar(Calendar::parse(text)?)));
        }
        let (alias, rest) = text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
        if alias.eq_ignore_ascii_case(EVERY) {
            return Ok(Schedule(Kind::Interval(Interval::parse(rest.trim_ascii_start())?)));
        }
        let known = ALIASES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let Some((_, expression)) = known else { return Err(unknown_alias(text, alias)) };
        Ok(Schedule(Kind::Calendar(Calendar::parse(expression)?)))
    }

    /// The next run after a moment, in whole seconds of the zone's clocks.
    ///
    /// The anchor counts for `@every` alone, which is due whole intervals after it: the registration, or the last run.
    /// Nothing if there is no run in the next hundred years or before the calendar ends, as happens where clocks jump
    /// over the same time each year: `30 2 * 3 0L` in Europe/Berlin.
    pub fn next_after(&self, after: Timestamp, zone: &Zone, anchor: Timestamp) -> Option<Timestamp> {
        let calendar = match &self.0 {
            Kind::Interval(interval) => return interval.next_after(after, anchor),
            Kind::Calendar(calendar) => calendar,
        };
        let now = zone.clock(after)?;
        let last_year = now.year().saturating_add(HORIZON_YEARS);
        let mut from = now.checked_add(1.second()).ok()?;
        for _ in 0..CHANGES_MAX {
            let tick = calendar.at_or_after(from, last_year)?;
            match zone.first_showing(tick, after)? {
                Shown::At(moment) => return Some(moment),
                Shown::Not { until } => from = until.max(tick.checked_add(1.second()).ok()?),
            }
        }
        None
    }

    /// The runs after a moment, one after the other.
    pub fn upcoming(
        &self,
        after: Timestamp,
        zone: &Zone,
        anchor: Timestamp,
    ) -> impl Iterator<Item = Timestamp> {
        let first = self.next_after(after, zone, anchor);
        std::iter::successors(first, move |at| self.next_after(*at, zone, anchor))
    }

    /// What clocks jumped over after a moment and up to another, oldest first: one for each jump that hid a tick, however
    /// many it hid.
    pub fn skipped_between(
        &self,
        after: Timestamp,
        until: Timestamp,
        zone: &Zone,
    ) -> impl Iterator<Item = Skip> {
        let calendar = match &self.0 {
            Kind::Calendar(calendar) => Some(calendar),
            Kind::Interval(_) => None,
        };
        calendar.into_iter().flat_map(move |calendar| {
            zone.jumps(after, until).filter_map(|jump| {
                let tick = calendar.at_or_after(jump.from, jump.to.year())?;
                (tick < jump.to).then(|| Skip { at: jump.at, local: tick.to_string().into() })
            })
        })
    }
}

fn unknown_alias(text: &str, alias: &str) -> ScheduleError {
    let names: Vec<&'static str> = ALIASES.iter().map(|(name, _)| *name).chain([EVERY]).collect();
    ScheduleError::Alias { text: excerpt(text), meant: nearest(alias, &names) }
}
