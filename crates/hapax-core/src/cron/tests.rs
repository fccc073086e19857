//! What schedules are due, refuse and skip.

mod intervals;
mod model;
mod oracle;
mod refusals;
mod runs;
mod shifts;
mod zones;

use super::{Schedule, Skip, Zone};
use crate::Timestamp;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn schedule(text: &str) -> Schedule {
    Schedule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    Schedule::parse(text).unwrap_err().to_string()
}

/// So many runs after a moment.
fn runs(text: &str, zone: &Zone, after: Timestamp, count: usize) -> Vec<Timestamp> {
    let schedule = schedule(text);
    let next = |after: &Timestamp| schedule.next_after(*after, zone, *after);
    std::iter::successors(next(&after), next).take(count).collect()
}

/// The runs after a moment must be these, written with the offset that clocks then have.
#[track_caller]
fn check(text: &str, zone_name: &str, after: &str, expected: &[&str]) {
    let expected: Vec<Timestamp> = expected.iter().map(|text| at(text)).collect();
    assert_eq!(runs(text, &zone(zone_name), at(after), expected.len()), expected, "{text} in {zone_name}");
}

fn skips(text: &str, zone_name: &str, after: &str, until: &str) -> Vec<Skip> {
    schedule(text).skipped_between(at(after), at(until), &zone(zone_name)).collect()
}
