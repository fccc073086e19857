//! A moment in milliseconds, which is also the precision of everything the server says about time.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// From the year 0000 to the last hours of 9999, which jiff leaves out so that every moment has a text in every
/// zone: every moment has an RFC 3339 text of the usual length.
const EARLIEST: i64 = -62_167_219_200_000;
const LATEST: i64 = 253_402_207_200_000;

/// A text that is no RFC 3339 moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an RFC 3339 time with a zone, such as 2026-03-01T09:30:00Z")]
pub struct TimeError(pub Box<str>);

impl Timestamp {
    /// The start of 1970.
    pub const EPOCH: Timestamp = Timestamp(0);
    /// The last moment there is, at the end of 9999: later ones are brought down to it.
    pub const MAX: Timestamp = Timestamp(LATEST);

    /// The moment that many milliseconds after 1970, kept between the year 0000 and [`Timestamp::MAX`].
    pub fn from_millis(millis: i64) -> Timestamp {
        Timestamp(millis.clamp(EARLIEST, LATEST))
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 text. Finer parts than a millisecond round up, and so does a leap second, so that nothing starts early.
    pub fn parse(text: &str) -> Result<Timestamp, TimeError> {
        let wrong = || TimeError(text.chars().take(64).collect());
        if !has_rfc3339_shape(text) {
            return Err(wrong());
        }
        let Ok(moment) = text.parse::<jiff::Timestamp>() else {
            // 9999-12-31T23:59:59Z is how many people write "never".
            let is_date = text[..19].parse::<jiff::civil::DateTime>().is_ok();
            return if is_date && text.starts_with("9999-12-3") { Ok(Timestamp::MAX) } else { Err(wrong()) };
        };
        let nanos = moment.as_nanosecond();
        let millis = nanos.div_euclid(1_000_000) + i128::from(nanos.rem_euclid(1_000_000) != 0);
        // The reader takes the second 60 for the one before.
        let millis = if text[17..].starts_with("60") { (millis.div_euclid(1000) + 1) * 1000 } else { millis };
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
    // jiff takes offsets of up to 25 hours, which other readers of the same text do not.
    let is_offset = fits(b"+dd:dd", rest) && rest[1..3] <= b"23"[..] && rest[4..6] <= b"59"[..];
    fits(date, head) && (fits(b"Z", rest) || fits(b"z", rest) || is_offset)
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
        let moment = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{moment:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_leap_second_is_not_early() {
        for leap in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2017-01-01T00:59:60+01:00"] {
            assert_eq!(Timestamp::parse(leap), Timestamp::parse("2017-01-01T00:00:00Z"), "{leap}");
        }
    }

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
            "2026-03-01T09:30:00+24:00",
            "now",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_stops_at_the_end_of_the_calendar() {
        assert_eq!(Timestamp::EPOCH + Duration::MAX, Timestamp::MAX);
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-30T22:00:00.000Z");
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59Z"), Ok(Timestamp::MAX));
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-23:59"), Ok(Timestamp::MAX));
        assert!(Timestamp::parse("9999-12-32T23:59:59Z").is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(millis in EARLIEST..=LATEST) {
            let moment = Timestamp::from_millis(millis);
            let text = moment.to_string();
            prop_assert_eq!(Timestamp::parse(&text), Ok(moment));
            prop_assert_eq!(text.len(), "2026-03-01T09:30:00.000Z".len());
        }
    }
}
