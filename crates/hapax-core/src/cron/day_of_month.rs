//! The day-of-month field: days by their number, from the end, or moved to a weekday.

use super::error::{ScheduleError, excerpt};
use super::field::Field;
use super::month::Month;
use super::values::Values;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DayOfMonth {
    days: Values,
    /// `15W`.
    near: Values,
    /// `L-3`, and 0 for `L`.
    before_last: Values,
    /// `LW`.
    has_last_weekday: bool,
    pub(super) is_star: bool,
}

/// The first of a long month.
const BEFORE_LAST_MAX: i8 = 30;

impl DayOfMonth {
    pub(super) fn parse(text: &str) -> Result<DayOfMonth, ScheduleError> {
        let mut field = DayOfMonth::default();
        for item in text.split(',') {
            field.add(item)?;
        }
        Ok(field)
    }

    fn add(&mut self, item: &str) -> Result<(), ScheduleError> {
        let upper = item.to_ascii_uppercase();
        match (upper.strip_prefix("L-"), upper.strip_suffix('W')) {
            _ if upper == "L" => self.before_last.insert(0),
            (_, Some("L")) => self.has_last_weekday = true,
            (Some(number), _) => self.before_last.insert(before_last(number, item)?),
            (_, Some(day)) => self.near.insert(single(day, item)?),
            _ => {
                let plain = Field::DayOfMonth.item(item)?;
                self.days = self.days.union(plain.values);
                self.is_star |= plain.is_star;
            }
        }
        Ok(())
    }

    /// The days of this month that fit. Days that it lacks are left out, and nothing is moved in their place.
    pub(super) fn in_month(&self, month: Month) -> Values {
        let exists = |day: &i8| (1..=month.length).contains(day);
        let plain = self.days.iter().filter(exists);
        let near = self.near.iter().filter(exists).map(|day| month.nearest_weekday(day));
        let from_end = self.before_last.iter().map(|back| month.length - back).filter(exists);
        let last_weekday = self.has_last_weekday.then(|| month.nearest_weekday(month.length));
        plain.chain(near).chain(from_end).chain(last_weekday).collect()
    }
}

fn before_last(number: &str, item: &str) -> Result<i8, ScheduleError> {
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse().ok().filter(|number| digits && (1..=BEFORE_LAST_MAX).contains(number));
    number.ok_or_else(|| ScheduleError::FromLast { text: excerpt(item) })
}

/// `W` belongs to one day, not to a range or a step.
fn single(day: &str, item: &str) -> Result<i8, ScheduleError> {
    if day.is_empty() || !day.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Field::DayOfMonth.unknown(item));
    }
    Field::DayOfMonth.value(day, item)
}
