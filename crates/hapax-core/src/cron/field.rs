//! The six fields of an expression, and what all of them may hold.

use std::fmt;

use super::error::{ScheduleError, excerpt};
use super::values::Values;
use crate::nearest;

/// A field of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Field {
    Second,
    Minute,
    Hour,
    DayOfMonth,
    Month,
    DayOfWeek,
}

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/// The other number of Sunday.
const SUNDAY_AGAIN: i8 = 7;

/// Part of a list: `*`, a value or a range, perhaps with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) values: Values,
    /// A `*` that leaves nothing out.
    pub(super) is_star: bool,
}

impl Field {
    /// Reads a list of items.
    pub(super) fn values(self, text: &str) -> Result<Values, ScheduleError> {
        text.split(',').try_fold(Values::default(), |values, item| Ok(values.union(self.item(item)?.values)))
    }

    /// Reads an item that all fields may have.
    pub(super) fn item(self, text: &str) -> Result<Item, ScheduleError> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step, text)?)),
            None => (text, None),
        };
        let (min, max) = self.bounds();
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (min, max),
            Some((first, last)) => self.range_of(first, last, text)?,
            None => {
                let value = self.value(range, text)?;
                (value, if step.is_some() { max } else { value })
            }
        };
        let step = step.unwrap_or(1);
        let values = (first..=last).step_by(step).map(|value| self.folded(value)).collect();
        Ok(Item { values, is_star: range == "*" && step == 1 })
    }

    /// Reads a number or a name. `item` is what it stands in.
    pub(super) fn value(self, text: &str, item: &str) -> Result<i8, ScheduleError> {
        Ok(self.folded(self.number(text, item)?))
    }

    /// As [`Field::value`], with both numbers of Sunday.
    fn number(self, text: &str, item: &str) -> Result<i8, ScheduleError> {
        if text.is_empty() {
            return Err(ScheduleError::Missing { field: self, text: excerpt(item) });
        }
        let (min, max) = self.bounds();
        if text.bytes().all(|b| b.is_ascii_digit()) {
            let number =
                text.parse().ok().filter(|number| (min..=max).contains(number) || self.is_again(*number));
            return number.ok_or_else(|| ScheduleError::OutOfRange { field: self, text: excerpt(text) });
        }
        let known = self.names().iter().zip(min..).find(|(name, _)| name.eq_ignore_ascii_case(text));
        known.map(|(_, value)| value).ok_or_else(|| self.unknown(text))
    }

    /// Reads the ends of a range, of which Sunday may be either.
    fn range_of(self, first: &str, last: &str, item: &str) -> Result<(i8, i8), ScheduleError> {
        let (start, end) = (self.number(first, item)?, self.number(last, item)?);
        let (start, end) = match (start, end) {
            (1.., 0) if self == Field::DayOfWeek => (start, SUNDAY_AGAIN),
            (_, ..SUNDAY_AGAIN) if self.is_again(start) => (0, end),
            ends => ends,
        };
        if start <= end {
            return Ok((start, end));
        }
        let (min, max) = self.bounds();
        let edges = match self.names() {
            [min, .., max] if !last.bytes().any(|b| b.is_ascii_digit()) => format!("{max},{min}"),
            _ => format!("{max},{min}"),
        };
        let text = excerpt(&format!("{first}-{last}"));
        let instead = excerpt(&format!("{first}-{edges}-{last}"));
        Err(ScheduleError::Backwards { field: self, text, instead })
    }

    /// More values than the field has are a step that nobody means: `*/90` minutes would run every hour.
    fn step(self, text: &str, item: &str) -> Result<usize, ScheduleError> {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let step = text.parse().ok().filter(|step| digits && (1..=self.count()).contains(step));
        step.ok_or_else(|| ScheduleError::Step { field: self, text: excerpt(item) })
    }

    pub(super) fn unknown(self, text: &str) -> ScheduleError {
        let is_long_form =
            |name: &str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let long_form = self.names().iter().find(|name| is_long_form(name)).copied();
        let meant = if text == "?" { Some("*") } else { long_form.or_else(|| nearest(text, self.names())) };
        ScheduleError::Unknown { field: self, text: excerpt(text), meant }
    }

    fn is_again(self, value: i8) -> bool {
        self == Field::DayOfWeek && value == SUNDAY_AGAIN
    }

    fn folded(self, value: i8) -> i8 {
        if self.is_again(value) { 0 } else { value }
    }

    pub(super) const fn bounds(self) -> (i8, i8) {
        match self {
            Field::Second | Field::Minute => (0, 59),
            Field::Hour => (0, 23),
            Field::DayOfMonth => (1, 31),
            Field::Month => (1, 12),
            Field::DayOfWeek => (0, 6),
        }
    }

    /// How many values there are.
    pub(super) fn count(self) -> usize {
        let (min, max) = self.bounds();
        (min..=max).count()
    }

    const fn names(self) -> &'static [&'static str] {
        match self {
            Field::Second | Field::Minute | Field::Hour | Field::DayOfMonth => &[],
            Field::Month => MONTHS,
            Field::DayOfWeek => WEEKDAYS,
        }
    }

    /// The numbers, in words.
    pub(super) const fn range(self) -> &'static str {
        match self {
            Field::Second | Field::Minute => "0 to 59",
            Field::Hour => "0 to 23",
            Field::DayOfMonth => "1 to 31",
            Field::Month => "1 to 12",
            Field::DayOfWeek => "0 to 7 with Sunday at both ends",
        }
    }

    /// What a value can look like, in words.
    pub(super) const fn forms(self) -> &'static str {
        match self {
            Field::Second | Field::Minute => "a number from 0 to 59",
            Field::Hour => "a number from 0 to 23",
            Field::DayOfMonth => "a day: 1 to 31, L, L-3, 15W or LW",
            Field::Month => "a month: 1 to 12 or JAN to DEC",
            Field::DayOfWeek => "a weekday: 0 to 7, SUN to SAT, 5L or 5#3",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::Second => "second",
            Field::Minute => "minute",
            Field::Hour => "hour",
            Field::DayOfMonth => "day of month",
            Field::Month => "month",
            Field::DayOfWeek => "day of week",
        })
    }
}
