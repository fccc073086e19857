//! An expression: the times of day, and the days, at which clocks show a tick.

use jiff::civil::{DateTime, Time};

use super::days::Days;
use super::error::ScheduleError;
use super::field::Field;
use super::values::Values;

/// Knows no zone: its times are what clocks show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Calendar {
    seconds: Values,
    minutes: Values,
    hours: Values,
    days: Days,
}

impl Calendar {
    /// Reads five or six fields.
    pub(super) fn parse(text: &str) -> Result<Calendar, ScheduleError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let (second, [minute, hour, day_of_month, month, day_of_week]) = match fields[..] {
            [minute, hour, day, month, weekday] => ("0", [minute, hour, day, month, weekday]),
            [second, minute, hour, day, month, weekday] => (second, [minute, hour, day, month, weekday]),
            _ => return Err(ScheduleError::FieldCount(fields.len())),
        };
        Ok(Calendar {
            seconds: Field::Second.values(second)?,
            minutes: Field::Minute.values(minute)?,
            hours: Field::Hour.values(hour)?,
            days: Days::parse(day_of_month, month, day_of_week)?,
        })
    }

    /// The next tick, from this second on and up to the end of that year.
    pub(super) fn at_or_after(&self, from: DateTime, last_year: i16) -> Option<DateTime> {
        let date = self.days.at_or_after(from.date(), last_year)?;
        if date > from.date() {
            return Some(date.to_datetime(self.first_time()?));
        }
        if let Some(time) = self.time_at_or_after(from.time()) {
            return Some(date.to_datetime(time));
        }
        let date = self.days.at_or_after(date.tomorrow().ok()?, last_year)?;
        Some(date.to_datetime(self.first_time()?))
    }

    fn time_at_or_after(&self, from: Time) -> Option<Time> {
        let (hour, minute, second) = (from.hour(), from.minute(), from.second());
        if self.hours.contains(hour) {
            if self.minutes.contains(minute)
                && let Some(second) = self.seconds.at_or_after(second)
            {
                return Time::new(hour, minute, second, 0).ok();
            }
            if let Some(minute) = self.minutes.at_or_after(minute + 1) {
                return Time::new(hour, minute, self.seconds.first()?, 0).ok();
            }
        }
        let hour = self.hours.at_or_after(hour + 1)?;
        Time::new(hour, self.minutes.first()?, self.seconds.first()?, 0).ok()
    }

    fn first_time(&self) -> Option<Time> {
        self.time_at_or_after(Time::midnight())
    }
}
