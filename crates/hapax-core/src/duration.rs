//! ISO 8601 durations, in and out. A year counts 365 days and a month 30, whatever the calendar says.

use std::fmt::Write as _;
use std::time::Duration;

/// A text that is no usable duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Not of the form `P…T…`.
    #[error("\"{0}\" is not an ISO 8601 duration, such as PT30S, PT5M or P1D")]
    Malformed(Box<str>),
    /// More than the calendar of the server holds.
    #[error("\"{0}\" is longer than 10,000 years")]
    TooLong(Box<str>),
}

const SECONDS_MAX: u64 = 10_000 * 365 * 86_400;
const DATE_UNITS: [(u8, u64); 4] =
    [(b'Y', 365 * 86_400), (b'M', 30 * 86_400), (b'W', 7 * 86_400), (b'D', 86_400)];
const TIME_UNITS: [(u8, u64); 3] = [(b'H', 3600), (b'M', 60), (b'S', 1)];

/// Reads `P[nY][nM][nW][nD][T[nH][nM][n[.f]S]]`; at least one part; no sign. Zero is a valid duration
/// here: whoever cannot use it refuses it. Own code, since jiff reads signs, spaces and lower case too.
pub fn parse_iso8601(text: &str) -> Result<Duration, DurationError> {
    let short = || text.chars().take(64).collect::<Box<str>>();
    let malformed = || DurationError::Malformed(short());
    let rest = text.strip_prefix('P').ok_or_else(malformed)?;
    let (date, time) = match rest.split_once('T') {
        Some((date, time)) if !time.is_empty() => (date, Some(time)),
        Some(_) => return Err(malformed()),
        None => (rest, None),
    };
    if date.is_empty() && time.is_none() {
        return Err(malformed());
    }
    let mut total = parts(date, &DATE_UNITS).ok_or_else(malformed)?;
    if let Some(time) = time {
        total = total.saturating_add(parts(time, &TIME_UNITS).ok_or_else(malformed)?);
    }
    if total.as_secs() > SECONDS_MAX { Err(DurationError::TooLong(short())) } else { Ok(total) }
}

/// The sum of `number unit` pairs, whose units must come in the given order, each at most once.
fn parts(mut text: &str, mut units: &[(u8, u64)]) -> Option<Duration> {
    let mut total = Duration::ZERO;
    while !text.is_empty() {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = text.get(..digits).filter(|d| !d.is_empty() && d.len() <= 19)?.parse().ok()?;
        text = &text[digits..];
        let fraction = match text.strip_prefix('.') {
            Some(after) => {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                text = &after[digits..];
                Some(after.get(..digits).filter(|d| !d.is_empty())?)
            }
            None => None,
        };
        let unit = *text.as_bytes().first()?;
        let at = units.iter().position(|(name, _)| *name == unit)?;
        if fraction.is_some() && units[at].1 != 1 {
            return None;
        }
        total = total.saturating_add(Duration::from_secs(number.saturating_mul(units[at].1)));
        total = total.saturating_add(fraction.map_or(Duration::ZERO, fraction_of_second));
        units = &units[at + 1..];
        text = &text[1..];
    }
    Some(total)
}

/// The part of a second that digits after the point stand for, rounded up to a millisecond: a positive
/// duration never becomes zero.
fn fraction_of_second(digits: &str) -> Duration {
    let millis = digits.bytes().chain(*b"000").take(3).fold(0, |n, d| n * 10 + u64::from(d - b'0'));
    let finer = digits.bytes().skip(3).any(|d| d != b'0');
    Duration::from_millis(millis + u64::from(finer))
}

/// The shortest usual text: days, hours, minutes, seconds with milliseconds.
pub fn format_iso8601(span: Duration) -> String {
    let (seconds, millis) = (span.as_secs(), span.subsec_millis());
    let (days, hours, minutes, seconds) =
        (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let mut text = String::from("P");
    let mut part = |number: u64, unit: &str| {
        if number > 0 {
            let _infallible = write!(text, "{number}{unit}");
        }
    };
    part(days, "D");
    let mut time = String::new();
    let mut part = |number: u64, unit: &str| {
        if number > 0 {
            let _infallible = write!(time, "{number}{unit}");
        }
    };
    part(hours, "H");
    part(minutes, "M");
    if millis > 0 {
        let fraction = format!("{millis:03}");
        let _infallible = write!(time, "{seconds}.{}S", fraction.trim_end_matches('0'));
    } else {
        part(seconds, "S");
    }
    match (text.len(), time.as_str()) {
        (1, "") => text.push_str("T0S"),
        (_, "") => {}
        (_, time) => {
            text.push('T');
            text.push_str(time);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(text: &str) -> u64 {
        parse_iso8601(text).unwrap().as_secs()
    }

    #[test]
    fn every_unit_counts_what_the_page_says() {
        assert_eq!(seconds("PT1H30M5S"), 5405);
        assert_eq!(seconds("P1D"), 86_400);
        assert_eq!(seconds("P2W"), 14 * 86_400);
        assert_eq!(seconds("P1M"), 30 * 86_400);
        assert_eq!(seconds("P1Y"), 365 * 86_400);
        assert_eq!(parse_iso8601("PT0.25S"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_iso8601("PT0.0001S"), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "P",
            "PT",
            "P1",
            "1D",
            "pt5m",
            "PT5m",
            "-PT5M",
            "P-1D",
            "PT5M3H",
            "PT1S1S",
            "P1DT",
            "PT.5S",
            "PT5.S",
            "P0.5D",
            "PT 5M",
            "3600s",
            "P99999999999999999999D",
            "P1Y1Y",
            "P١D",
        ] {
            assert!(parse_iso8601(text).is_err(), "{text}");
        }
        assert!(matches!(parse_iso8601("P9999999Y"), Err(DurationError::TooLong(_))));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis in 0..u64::from(u32::MAX) * 1000) {
            let span = Duration::from_millis(millis);
            prop_assert_eq!(parse_iso8601(&format_iso8601(span)), Ok(span));
        }
    }
}
