//! Why a text is no schedule.

use super::field::Field;
use super::interval;
use super::schedule::TEXT_LENGTH_MAX;

/// A text that is no schedule, with the place and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ScheduleError {
    #[error("the schedule is empty: write five fields such as 0 9 * * MON-FRI, or @daily, or @every 30m")]
    Empty,
    #[error("the schedule has more than {TEXT_LENGTH_MAX} characters")]
    TooLong,
    #[error(
        "a schedule has 5 fields (minute, hour, day of month, month, day of week), or 6 with the second in front, \
         not {0}"
    )]
    FieldCount(usize),
    #[error("{field}: a value is missing in \"{text}\"")]
    Missing { field: Field, text: Box<str> },
    #[error("{field}: {text} is out of range, which is {}", field.range())]
    OutOfRange { field: Field, text: Box<str> },
    #[error("{field}: \"{text}\" is not {}{}", field.forms(), guess(*.meant))]
    Unknown { field: Field, text: Box<str>, meant: Option<&'static str> },
    #[error("{field}: the step of \"{text}\" is not a number from 1 to {}; @every makes longer intervals", field.count())]
    Step { field: Field, text: Box<str> },
    #[error("{field}: the range {text} runs backwards; write {instead}")]
    Backwards { field: Field, text: Box<str>, instead: Box<str> },
    #[error("{field}: \"{text}\" counts from the last day, so L- takes a number from 1 to 30", field = Field::DayOfMonth)]
    FromLast { text: Box<str> },
    #[error("{field}: L alone names no weekday; 5L is the last Friday of the month", field = Field::DayOfWeek)]
    LastOfWhich,
    #[error("{field}: \"{text}\" asks for a week from 1 to 5 after the #, such as 5#3 for the third Friday", field = Field::DayOfWeek)]
    Nth { text: Box<str> },
    #[error("{field}: no month of \"{months}\" has a day \"{days}\", so it would never run", field = Field::DayOfMonth)]
    Never { days: Box<str>, months: Box<str> },
    #[error(
        "\"{text}\" is not one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every{}",
        guess(*.meant)
    )]
    Alias { text: Box<str>, meant: Option<&'static str> },
    #[error(
        "the schedule begins with the time zone {zone}, which has its own place: send the fields alone, and beside them \
         \"timezone\": \"{zone}\""
    )]
    ZoneInside { zone: Box<str> },
    #[error("@every: \"{text}\" is not a duration such as 90s, 1h30m, 1d or PT90M")]
    Interval { text: Box<str> },
    #[error("@every: \"{text}\" is shorter than a second")]
    IntervalTooShort { text: Box<str> },
    #[error("@every: \"{text}\" is longer than {} days", interval::DAYS_MAX)]
    IntervalTooLong { text: Box<str> },
}

/// As much of a text as belongs into a message.
pub(super) fn excerpt(text: &str) -> Box<str> {
    const LENGTH_MAX: usize = 64;
    text.chars().take(LENGTH_MAX).collect()
}

fn guess(meant: Option<&'static str>) -> String {
    meant.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}
