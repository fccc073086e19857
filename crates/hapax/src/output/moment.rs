//! Times for eyes: the moment, and how far it is from here.

use std::time::Duration;

use hapax_core::{TimeError, Timestamp};
use serde::Deserialize;

use super::Text;

/// A moment of which the server tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Moment(Timestamp);

impl Moment {
    /// `2026-03-01T09:30:00.000Z (3 h ago)`.
    pub(crate) fn shown(self, now: Timestamp) -> String {
        format!("{} ({})", self.0, self.distance(now))
    }

    /// `3 h`, nothing if it is still to come.
    pub(crate) fn age(self, now: Timestamp) -> String {
        span(now.since(self.0))
    }

    /// A sentence about the moment, with its distance: behind the moment if the sentence names it, else at the end.
    pub(crate) fn told(self, sentence: &Text, now: Timestamp) -> String {
        let (moment, shown) = (self.0.to_string(), self.shown(now));
        match sentence.as_str().split_once(&moment) {
            Some((before, after)) => format!("{before}{shown}{after}"),
            None => format!("{sentence}; {shown}"),
        }
    }

    fn distance(self, now: Timestamp) -> String {
        if now < self.0 {
            format!("in {}", span(self.0.since(now)))
        } else {
            format!("{} ago", span(now.since(self.0)))
        }
    }
}

impl TryFrom<String> for Moment {
    type Error = TimeError;

    fn try_from(text: String) -> Result<Moment, TimeError> {
        Timestamp::parse(&text).map(Moment)
    }
}

/// A duration in its largest unit of which there are at least two, rounded down.
pub(crate) fn span(duration: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;

    let seconds = duration.as_secs();
    let (unit, name) = [(DAY, "d"), (HOUR, "h"), (MINUTE, "min")]
        .into_iter()
        .find(|(unit, _)| seconds >= 2 * unit)
        .unwrap_or((1, "s"));
    format!("{} {name}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_told_in_a_unit_that_fits() {
        for (seconds, expected) in [
            (0, "0 s"),
            (119, "119 s"),
            (120, "2 min"),
            (7199, "119 min"),
            (7200, "2 h"),
            (172_799, "47 h"),
            (172_800, "2 d"),
            (31_536_000, "365 d"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_moment_is_told_with_its_distance() {
        let moment = Moment::try_from("2026-03-01T09:30:00Z".to_owned()).unwrap();
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(moment.shown(at("2026-03-01T12:31:00Z")), "2026-03-01T09:30:00.000Z (3 h ago)");
        assert_eq!(moment.shown(at("2026-03-01T09:29:00Z")), "2026-03-01T09:30:00.000Z (in 60 s)");
        assert_eq!(moment.age(at("2026-03-01T09:29:00Z")), "0 s");
    }

    #[test]
    fn a_sentence_names_its_moment_once() {
        let moment = Moment::try_from("2026-03-01T09:30:00Z".to_owned()).unwrap();
        let now = Timestamp::parse("2026-03-01T09:29:00Z").unwrap();
        let told = |sentence| moment.told(&Text::new(sentence), now);
        assert_eq!(
            told("free at 2026-03-01T09:30:00.000Z, or earlier"),
            "free at 2026-03-01T09:30:00.000Z (in 60 s), or earlier"
        );
        assert_eq!(told("free soon"), "free soon; 2026-03-01T09:30:00.000Z (in 60 s)");
    }
}
