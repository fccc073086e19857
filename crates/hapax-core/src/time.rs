//! A moment in milliseconds, which is also the precision of everything the server says about time.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// Years 0000 to 9999, so that every moment has an RFC 3339 text of the usual length.
const EARLIEST: i64 = -62_167_219_200_000;
const LATEST: i64 = 253_402_300_799_999;

/// A text that is no RFC 3339 moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an RFC 3339 time with a zone, such as 2026-03-01T09:30:00Z")]
pub struct TimeError(pub Box<str>);

impl Timestamp {
    /// The start of 1970.
    pub const EPOCH: Timestamp = Timestamp(0);
    /// The last moment of the year 9999: later ones are brought down to it.
    pub const MAX: Timestamp = Timestamp(LATEST);

    /// The moment that many milliseconds after 1970, kept within the years 0000 to 9999.
    pub fn from_millis(millis: i64) -> Timestamp {
        Timestamp(millis.clamp(EARLIEST, LATEST))
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 text. Finer parts than a millisecond round up, so that nothing starts early.
    pub fn parse(text: &str) -> Result<Timestamp, TimeError> {
        let wrong = || TimeError(text.chars().take(64).collect());
        if !has_rfc3339_shape(text) {
            return Err(wrong());
        }
        let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
        let nanos = moment.as_nanosecond();
        let millis = nanos.div_euclid(1_000_000) + i128::from(nanos.rem_euclid(1_000_000) != 0);
        i64::try_from(millis).map(Timestamp::from_millis).map_err(|_| wrong())
    }

    /// How long after `earlier` this is; nothing if it is not later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }
}

/// `YYYY-MM-DDTHH:MM:SS` with optional fraction and a zone: jiff reads more than RFC 3339 allows.
fn has_rfc3339_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let date = b"dddd-dd-ddTdd:dd:dd";
    let fits = |pattern: &[u8], part: &[u8]| {
        part.len() == pattern.len()
            && pattern.iter().zip(part).all(|(p, b)| match p {
                b'd' => b.is_ascii_digit(),
                b'T' => matches!(b, b'T' | b't'),
                b'+' => matches!(b, b'+' | b'-'),
                _ => p == b,
            })
    };
    let Some((head, mut rest)) = bytes.split_at_checked(date.len()) else { return false };
    if let Some(after) = rest.strip_prefix(b".") {
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return false;
        }
        rest = &after[digits..];
    }
    fits(date, head) && (fits(b"Z", rest) || fits(b"z", rest) || fits(b"+dd:dd", rest))
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Duration) -> Timestamp {
        let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.0.saturating_add(span))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    fn sub(self, span: Duration) -> Timestamp {
        let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(self.0.saturating_sub(span))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400_000);
        let millis = self.0.rem_euclid(86_400_000);
        let (year, month, day) = civil_date(days);
        let (hour, minute, second) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60);
        let millis = millis % 1000;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Year, month and day of the given day after 1970-01-01.
fn civil_date(days: i64) -> (i64, i64, i64) {
    // Every reply prints several moments; jiff's calendar checks cost more than the rest of a job's text.
    // Counted from 0000-03-01, so that the leap day is the last of its year; 146,097 days are 400 years.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_finer_time_than_a_millisecond_rounds_up() {
        let time = |text: &str| Timestamp::parse(text).unwrap().millis();
        assert_eq!(time("1970-01-01T00:00:00.000000001Z"), 1);
        assert_eq!(time("1970-01-01T00:00:00.001Z"), 1);
        assert_eq!(time("1970-01-01T01:00:00+01:00"), 0);
    }

    #[test]
    fn a_time_without_a_zone_or_with_other_shapes_is_refused() {
        for text in [
            "",
            "2026-03-01",
            "2026-03-01T09:30:00",
            "2026-03-01 09:30:00Z",
            "+002026-03-01T09:30:00Z",
            "2026-13-01T09:30:00Z",
            "2026-02-30T09:30:00Z",
            "2026-03-01T09:30:00.Z",
            "20260301T093000Z",
            "2026-03-01T09:30:00+01",
            "2026-03-01T09:30:00[UTC]",
            "2026-03-01T09:30:00Z[UTC]",
            "now",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_stops_at_the_end_of_the_calendar() {
        assert_eq!(Timestamp::EPOCH + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_and_is_what_jiff_prints(millis in EARLIEST..=LATEST) {
            let moment = Timestamp::from_millis(millis);
            let text = moment.to_string();
            prop_assert_eq!(Timestamp::parse(&text), Ok(moment));
            let judge = jiff::Timestamp::from_millisecond(millis).unwrap();
            prop_assert_eq!(text, format!("{judge:.3}"));
        }
    }
}
