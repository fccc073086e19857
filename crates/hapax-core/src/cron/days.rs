//! The days on which an expression is due.

use jiff::civil::Date;

use super::day_of_month::DayOfMonth;
use super::day_of_week::DayOfWeek;
use super::error::{ScheduleError, excerpt};
use super::field::Field;
use super::month::Month;
use super::values::Values;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days {
    of_month: DayOfMonth,
    months: Values,
    of_week: DayOfWeek,
}

/// After so many years the calendar repeats itself, weekdays included.
const CYCLE: (i16, i16) = (2000, 2399);

impl Days {
    pub(super) fn parse(of_month: &str, months: &str, of_week: &str) -> Result<Days, ScheduleError> {
        let days = Days {
            of_month: DayOfMonth::parse(of_month)?,
            months: Field::Month.values(months)?,
            of_week: DayOfWeek::parse(of_week)?,
        };
        // Every weekday is due in every month, some only in leap years: only the day of the month can make it "never".
        let first = Date::constant(CYCLE.0, 1, 1);
        if days.at_or_after(first, CYCLE.1).is_none() {
            return Err(ScheduleError::Never { days: excerpt(of_month), months: excerpt(months) });
        }
        Ok(days)
    }

    /// The next day that fits, up to the end of that year: a look at each month on the way.
    pub(super) fn at_or_after(&self, from: Date, last_year: i16) -> Option<Date> {
        let (mut year, mut month, mut day) = (from.year(), from.month(), from.day());
        while year <= last_year {
            match self.months.at_or_after(month) {
                Some(next) if next == month => {
                    if let Some(day) = self.in_month(Month::of(year, month)?).at_or_after(day) {
                        return Date::new(year, month, day).ok();
                    }
                    (month, day) = (month + 1, 1);
                }
                Some(next) => (month, day) = (next, 1),
                None => (year, month, day) = (year + 1, 1, 1),
            }
        }
        None
    }

    fn in_month(&self, month: Month) -> Values {
        match (self.of_month.is_star, self.of_week.is_star) {
            (true, true) => month.days(),
            (true, false) => self.of_week.in_month(month),
            (false, true) => self.of_month.in_month(month),
            (false, false) => self.of_month.in_month(month).union(self.of_week.in_month(month)),
        }
    }
}
