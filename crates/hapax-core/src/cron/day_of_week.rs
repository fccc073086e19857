//! The day-of-week field: every such weekday, the nth or the last of a month.

use super::error::{ScheduleError, excerpt};
use super::field::Field;
use super::month::Month;
use super::values::Values;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DayOfWeek {
    weekdays: Values,
    /// `5#3` as 5 + 7 × 2.
    nth: Values,
    /// `5L`.
    last: Values,
    pub(super) is_star: bool,
}

const WEEK: i8 = 7;
const NTH_MAX: i8 = 5;

impl DayOfWeek {
    pub(super) fn parse(text: &str) -> Result<DayOfWeek, ScheduleError> {
        let mut field = DayOfWeek::default();
        for item in text.split(',') {
            field.add(item)?;
        }
        Ok(field)
    }

    fn add(&mut self, item: &str) -> Result<(), ScheduleError> {
        if item.eq_ignore_ascii_case("L") {
            return Err(ScheduleError::LastOfWhich);
        }
        if let Some((weekday, nth)) = item.split_once('#') {
            let weekday = single(weekday, item)?;
            self.nth.insert(weekday + WEEK * (number_of_week(nth, item)? - 1));
        } else if let Some(weekday) = item.strip_suffix(['L', 'l']) {
            self.last.insert(single(weekday, item)?);
        } else {
            let plain = Field::DayOfWeek.item(item)?;
            self.weekdays = self.weekdays.union(plain.values);
            self.is_star |= plain.is_star;
        }
        Ok(())
    }

    /// The days of this month that fit.
    pub(super) fn in_month(&self, month: Month) -> Values {
        let fits = |day: &i8| {
            let weekday = month.weekday(*day);
            let weeks_before = (day - 1) / WEEK;
            self.weekdays.contains(weekday)
                || self.nth.contains(weekday + WEEK * weeks_before)
                || (day + WEEK > month.length && self.last.contains(weekday))
        };
        month.days().iter().filter(fits).collect()
    }
}

fn number_of_week(nth: &str, item: &str) -> Result<i8, ScheduleError> {
    let digits = nth.bytes().all(|b| b.is_ascii_digit());
    let number = nth.parse().ok().filter(|number| digits && (1..=NTH_MAX).contains(number));
    number.ok_or_else(|| ScheduleError::Nth { text: excerpt(item) })
}

/// `#` and `L` belong to one weekday, not to a range or a step.
fn single(weekday: &str, item: &str) -> Result<i8, ScheduleError> {
    if weekday.contains(['-', '/', '*']) {
        return Err(Field::DayOfWeek.unknown(item));
    }
    Field::DayOfWeek.value(weekday, item)
}
