//! `@every`: a pause in real time, counted from an anchor.

use std::time::Duration;

use super::error::{ScheduleError, excerpt};
use crate::{DurationError, Timestamp, parse_iso8601};

/// The longest interval, a hundred years.
pub(super) const DAYS_MAX: u64 = 36_500;

const INTERVAL_MIN: Duration = Duration::from_secs(1);
const INTERVAL_MAX: Duration = Duration::from_hours(24 * DAYS_MAX);

/// In milliseconds, longest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// More digits than any useful number has.
const DIGITS_MAX: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    millis: i64,
}

impl Interval {
    /// Reads `1h30m` as Go writes it, with days, or an ISO 8601 duration.
    pub(super) fn parse(text: &str) -> Result<Interval, ScheduleError> {
        let malformed = || ScheduleError::Interval { text: excerpt(text) };
        let too_long = || ScheduleError::IntervalTooLong { text: excerpt(text) };
        let span = if text.starts_with('P') {
            parse_iso8601(text).map_err(|error| match error {
                DurationError::Malformed(_) => malformed(),
                DurationError::TooLong(_) => too_long(),
            })?
        } else {
            Duration::from_millis(sum(text).ok_or_else(malformed)?)
        };
        if span < INTERVAL_MIN {
            return Err(ScheduleError::IntervalTooShort { text: excerpt(text) });
        }
        let millis = i64::try_from(span.as_millis()).ok().filter(|_| span <= INTERVAL_MAX);
        Ok(Interval { millis: millis.ok_or_else(too_long)? })
    }

    /// The first whole number of intervals after the anchor, at least one, that lies after this moment.
    pub(super) fn next_after(self, after: Timestamp, anchor: Timestamp) -> Option<Timestamp> {
        let passed = (after.millis() - anchor.millis()).max(0);
        let number = passed / self.millis + 1;
        let next = anchor.millis().checked_add(number.checked_mul(self.millis)?)?;
        (next <= Timestamp::MAX.millis()).then(|| Timestamp::from_millis(next))
    }
}

/// Milliseconds of `number unit` pairs, whose units come in their order, each at most once.
fn sum(mut text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    let mut units = &UNITS[..];
    loop {
        let number = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, rest) = text.split_at(number);
        let unit = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, rest) = rest.split_at(unit);
        let at = units.iter().position(|(name, _)| *name == unit)?;
        total = total.saturating_add(times(number, units[at].1)?);
        units = &units[at + 1..];
        if rest.is_empty() {
            return Some(total);
        }
        text = rest;
    }
}

/// `number` units, which must be a whole number of milliseconds.
fn times(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.len() > DIGITS_MAX || fraction.len() > DIGITS_MAX {
        return None;
    }
    let scale = u128::from(10_u64).pow(u32::try_from(fraction.len()).ok()?);
    let parts = u128::from(fraction.parse::<u64>().ok()?) * u128::from(unit);
    let millis = u64::try_from(parts / scale).ok().filter(|_| parts.is_multiple_of(scale))?;
    Some(whole.parse::<u64>().ok()?.saturating_mul(unit).saturating_add(millis))
}
