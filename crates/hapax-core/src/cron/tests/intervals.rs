//! `@every` and its anchor.

use proptest::prelude::*;

use super::{at, refusal, schedule, zone};
use crate::Timestamp;

fn next(text: &str, after: &str, anchor: &str) -> String {
    let next = schedule(text).next_after(at(after), &zone("Europe/Berlin"), at(anchor));
    next.unwrap().to_string()
}

fn millis(text: &str) -> i64 {
    let start = at("2026-01-01T00:00:00Z");
    let next = schedule(text).next_after(start, &zone("UTC"), start);
    next.unwrap().millis() - start.millis()
}

#[test]
fn durations_read_as_they_are_written() {
    for (text, expected) in [
        ("@every 90s", 90_000),
        ("@every 30m", 1_800_000),
        ("@every 1h30m", 5_400_000),
        ("@every 2h45m30s", 9_930_000),
        ("@every 1d", 86_400_000),
        ("@every 1d12h", 129_600_000),
        ("@every 1500ms", 1500),
        ("@every 1s500ms", 1500),
        ("@every 1.5h", 5_400_000),
        ("@every 1h0m0s", 3_600_000),
        ("@every PT90M", 5_400_000),
        ("@every P1DT12H", 129_600_000),
        ("@every 1s", 1000),
        ("@every 36500d", 3_153_600_000_000),
        ("@EVERY \t 5m ", 300_000),
    ] {
        assert_eq!(millis(text), expected, "{text}");
    }
}

#[test]
fn other_durations_are_refused() {
    for text in [
        "30", "m", "1h 30m", "30m1h", "1h1h", "-5m", "+5m", "1H", "5min", "1.h", ".5h", "1.5.5h", "1.0005s",
        "٣m",
    ] {
        let expected = format!("@every: \"{text}\" is not a duration such as 90s, 1h30m, 1d or PT90M");
        assert_eq!(refusal(&format!("@every {text}")), expected);
    }
    assert_eq!(refusal("@every"), "@every: \"\" is not a duration such as 90s, 1h30m, 1d or PT90M");
    assert_eq!(refusal("@every pt5m"), "@every: \"pt5m\" is not a duration such as 90s, 1h30m, 1d or PT90M");
}

#[test]
fn an_interval_is_a_second_at_least_and_a_century_at_most() {
    assert_eq!(refusal("@every 999ms"), "@every: \"999ms\" is shorter than a second");
    assert_eq!(refusal("@every PT0S"), "@every: \"PT0S\" is shorter than a second");
    for text in ["36500d1ms", "999999999999d", "P101Y", "P9999999Y"] {
        assert_eq!(
            refusal(&format!("@every {text}")),
            format!("@every: \"{text}\" is longer than 36500 days")
        );
    }
}

#[test]
fn the_first_run_is_one_interval_after_the_anchor() {
    let anchor = "2026-03-01T10:17:23.456Z";
    assert_eq!(next("@every 30m", anchor, anchor), "2026-03-01T10:47:23.456Z");
    assert_eq!(next("@every 30m", "2026-03-01T10:00:00Z", anchor), "2026-03-01T10:47:23.456Z");
}

#[test]
fn what_was_missed_does_not_move_the_runs() {
    let anchor = "2026-03-01T10:17:00Z";
    assert_eq!(next("@every 30m", "2026-03-01T15:00:00Z", anchor), "2026-03-01T15:17:00.000Z");
    assert_eq!(next("@every 30m", "2026-03-01T15:17:00Z", anchor), "2026-03-01T15:47:00.000Z");
}

#[test]
fn clocks_do_not_matter() {
    let anchor = "2026-10-24T12:00:00+02:00";
    assert_eq!(next("@every 1d", anchor, anchor), "2026-10-25T10:00:00.000Z");
    assert_eq!(next("@every 1m", "2026-10-25T02:30:00+01:00", anchor), "2026-10-25T01:31:00.000Z");
}

proptest! {
    #[test]
    fn a_run_is_whole_intervals_after_the_anchor_and_the_next_one(
        interval in 1_000_i64..10_000_000_000,
        anchor in -1_000_000_000_000_i64..4_000_000_000_000,
        after in -1_000_000_000_000_i64..4_000_000_000_000,
    ) {
        let (from, start) = (Timestamp::from_millis(after), Timestamp::from_millis(anchor));
        let next = schedule(&format!("@every {interval}ms")).next_after(from, &zone("UTC"), start).unwrap().millis();
        prop_assert!(next > after && next > anchor);
        prop_assert_eq!((next - anchor) % interval, 0);
        prop_assert!(next - interval <= after.max(anchor));
    }
}
