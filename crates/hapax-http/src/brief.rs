//! Spans in short, a number with its unit such as `15m`: the official admin UI sends them so, and offers those that it is shown
//! so for choice. Nobody else needs them beside ISO 8601.

use std::time::Duration;

/// The units in milliseconds, the longest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];
/// More digits than any useful number has.
const DIGITS_MAX: usize = 12;

/// Reads a number with its unit.
pub(crate) fn read(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, millis) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let number: u64 = number.parse().ok().filter(|_| digits <= DIGITS_MAX)?;
    number.checked_mul(millis).map(Duration::from_millis)
}

/// Writes whole milliseconds in the longest unit of which they are whole ones.
pub(crate) fn written(span: Duration) -> String {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let fitting = UNITS.into_iter().find(|(_, unit)| millis % unit == 0);
    let (name, unit) = fitting.unwrap_or(("ms", 1));
    format!("{}{name}", millis / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, seconds) in
            [("1s", 1), ("10s", 10), ("1m", 60), ("5m", 300), ("1h", 3600), ("7d", 604_800)]
        {
            assert_eq!(read(text), Some(Duration::from_secs(seconds)), "{text}");
            assert_eq!(written(Duration::from_secs(seconds)), text);
        }
        assert_eq!(written(Duration::from_millis(90_500)), "90500ms");
    }

    #[test]
    fn what_is_no_span_in_short_is_not_read() {
        for text in ["", "5", "m", "-5m", "5 m", "5M", "1h30m", "1.5h", "9999999999999s", "PT5M"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
