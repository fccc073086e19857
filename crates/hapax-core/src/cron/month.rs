//! A month as a page of the calendar: how long it is, and on which weekday it starts.

use jiff::civil::Date;

use super::values::Values;

pub(super) const SUNDAY: i8 = 0;
pub(super) const SATURDAY: i8 = 6;

/// One month of one year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Month {
    pub(super) length: i8,
    /// The weekday of the first, from 0 for Sunday.
    starts_on: i8,
}

impl Month {
    /// Nothing outside the calendar.
    pub(super) fn of(year: i16, month: i8) -> Option<Month> {
        let first = Date::new(year, month, 1).ok()?;
        Some(Month { length: first.days_in_month(), starts_on: first.weekday().to_sunday_zero_offset() })
    }

    pub(super) fn days(self) -> Values {
        Values::range(1, self.length)
    }

    /// From 0 for Sunday.
    pub(super) fn weekday(self, day: i8) -> i8 {
        (self.starts_on + day - 1) % 7
    }

    /// The day from Monday to Friday that is nearest to this one without leaving the month.
    pub(super) fn nearest_weekday(self, day: i8) -> i8 {
        match self.weekday(day) {
            SATURDAY if day == 1 => 3,
            SATURDAY => day - 1,
            SUNDAY if day == self.length => day - 2,
            SUNDAY => day + 1,
            _ => day,
        }
    }
}
