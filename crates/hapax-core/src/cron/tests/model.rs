//! Expressions as values that can be written and, slowly, asked whether they fit a time.

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Weekday};
use proptest::prelude::*;

/// Five fields.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    minutes: Vec<Part>,
    hours: Vec<Part>,
    days: Vec<DayPart>,
    months: Vec<Part>,
    weekdays: Vec<WeekdayPart>,
}

#[derive(Debug, Clone)]
enum Part {
    Star,
    Every(i8),
    Value(i8),
    Range(i8, i8, i8),
}

#[derive(Debug, Clone)]
enum DayPart {
    Plain(Part),
    BeforeLast(i8),
    Near(i8),
    LastWeekday,
}

#[derive(Debug, Clone)]
enum WeekdayPart {
    Plain(Part),
    Nth(i8, i8),
    Last(i8),
}

impl Expression {
    pub(super) fn text(&self) -> String {
        let Expression { minutes, hours, days, months, weekdays } = self;
        [
            list(minutes, Part::text),
            list(hours, Part::text),
            list(days, DayPart::text),
            list(months, Part::text),
        ]
        .join(" ")
            + " "
            + &list(weekdays, WeekdayPart::text)
    }

    pub(super) fn fits(&self, local: DateTime) -> bool {
        let date = local.date();
        self.minutes.iter().any(|part| part.fits(local.minute(), 0))
            && self.hours.iter().any(|part| part.fits(local.hour(), 0))
            && self.months.iter().any(|part| part.fits(date.month(), 1))
            && self.fits_day(date)
    }

    fn fits_day(&self, date: Date) -> bool {
        let any_day = self.days.iter().any(|part| matches!(part, DayPart::Plain(Part::Star)));
        let any_weekday = self.weekdays.iter().any(|part| matches!(part, WeekdayPart::Plain(Part::Star)));
        let by_day = self.days.iter().any(|part| part.fits(date));
        let by_weekday = self.weekdays.iter().any(|part| part.fits(date));
        if any_day || any_weekday { by_day && by_weekday } else { by_day || by_weekday }
    }
}

impl Part {
    fn text(&self) -> String {
        match self {
            Part::Star => "*".to_owned(),
            Part::Every(step) => format!("*/{step}"),
            Part::Value(value) => value.to_string(),
            Part::Range(first, last, step) => format!("{first}-{last}/{step}"),
        }
    }

    fn fits(&self, value: i8, min: i8) -> bool {
        match self {
            Part::Star => true,
            Part::Every(step) => (value - min) % step == 0,
            Part::Value(only) => value == *only,
            Part::Range(first, last, step) => {
                (*first..=*last).contains(&value) && (value - first) % step == 0
            }
        }
    }
}

impl DayPart {
    fn text(&self) -> String {
        match self {
            DayPart::Plain(part) => part.text(),
            DayPart::BeforeLast(0) => "L".to_owned(),
            DayPart::BeforeLast(days) => format!("L-{days}"),
            DayPart::Near(day) => format!("{day}W"),
            DayPart::LastWeekday => "LW".to_owned(),
        }
    }

    fn fits(&self, date: Date) -> bool {
        let works = |date: &Date| !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
        let month = || (1..=31).filter_map(|day| Date::new(date.year(), date.month(), day).ok());
        match self {
            DayPart::Plain(part) => part.fits(date.day(), 1),
            DayPart::BeforeLast(days) => date.last_of_month() - i64::from(*days).days() == date,
            DayPart::Near(day) => {
                let exists = *day <= date.days_in_month();
                exists && month().filter(works).min_by_key(|near| (near.day() - day).abs()) == Some(date)
            }
            DayPart::LastWeekday => month().rfind(works) == Some(date),
        }
    }
}

impl WeekdayPart {
    fn text(&self) -> String {
        match self {
            WeekdayPart::Plain(part) => part.text(),
            WeekdayPart::Nth(weekday, nth) => format!("{weekday}#{nth}"),
            WeekdayPart::Last(weekday) => format!("{weekday}L"),
        }
    }

    fn fits(&self, date: Date) -> bool {
        let weekday = |number: i8| Weekday::from_sunday_zero_offset(number % 7).unwrap();
        let is_nth =
            |nth, number| date.nth_weekday_of_month(nth, weekday(number)).is_ok_and(|found| found == date);
        match self {
            WeekdayPart::Plain(part) => {
                let number = date.weekday().to_sunday_zero_offset();
                part.fits(number, 0) || (number == 0 && !matches!(part, Part::Every(_)) && part.fits(7, 0))
            }
            WeekdayPart::Nth(number, nth) => is_nth(*nth, *number),
            WeekdayPart::Last(number) => is_nth(-1, *number),
        }
    }
}

fn list<T>(parts: &[T], text: impl Fn(&T) -> String) -> String {
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Expressions that are due often enough for a walk to meet them.
pub(super) fn expression() -> impl Strategy<Value = Expression> {
    let day = prop_oneof![
        6 => part(1, 31).prop_map(DayPart::Plain),
        1 => (0..=30_i8).prop_map(DayPart::BeforeLast),
        1 => (1..=31_i8).prop_map(DayPart::Near),
        1 => Just(DayPart::LastWeekday),
    ];
    let weekday = prop_oneof![
        6 => part(0, 7).prop_map(WeekdayPart::Plain),
        1 => (0..=7_i8, 1..=5_i8).prop_map(|(weekday, nth)| WeekdayPart::Nth(weekday, nth)),
        1 => (0..=7_i8).prop_map(WeekdayPart::Last),
    ];
    let days = prop_oneof![Just(vec![DayPart::Plain(Part::Star)]), prop::collection::vec(day, 1..4)];
    let weekdays =
        prop_oneof![Just(vec![WeekdayPart::Plain(Part::Star)]), prop::collection::vec(weekday, 1..3)];
    let months = prop_oneof![3 => Just(vec![Part::Star]), 1 => prop::collection::vec(part(1, 12), 1..3)];
    let plain = |min, max| prop::collection::vec(part(min, max), 1..4);
    (plain(0, 59), plain(0, 23), days, months, weekdays).prop_map(
        |(minutes, hours, days, months, weekdays)| Expression { minutes, hours, days, months, weekdays },
    )
}

fn part(min: i8, max: i8) -> impl Strategy<Value = Part> {
    let steps = max.min(7);
    prop_oneof![
        2 => Just(Part::Star),
        1 => (2..=steps).prop_map(Part::Every),
        3 => (min..=max).prop_map(Part::Value),
        2 => (min..=max, min..=max, 1..=steps).prop_map(|(a, b, step)| Part::Range(a.min(b), a.max(b), step)),
    ]
}
