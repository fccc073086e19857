//! The search against a walk that looks at every minute and remembers what clocks have shown.

use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use proptest::prelude::*;

use super::super::Schedule;
use super::model::{Expression, expression};
use super::zone;
use crate::Timestamp;

const MINUTE: i64 = 60_000;
const DAY: i64 = 1440 * MINUTE;

/// Longer than clocks ever go back by at once.
const MEMORY: i64 = 25 * 60 * MINUTE;

const ZONES: &[&str] = &[
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Pacific/Kwajalein",
    "Asia/Pyongyang",
    "America/Caracas",
];

/// Each minute after a moment and up to another at which clocks show something for the first time.
fn fresh_minutes(zone: &TimeZone, after: i64, until: i64) -> impl Iterator<Item = (i64, DateTime)> {
    let mut latest = DateTime::MIN;
    let first = (after - MEMORY).div_euclid(MINUTE);
    (first..=until.div_euclid(MINUTE)).filter_map(move |minute| {
        let moment = minute * MINUTE;
        let local = zone.to_datetime(jiff::Timestamp::from_millisecond(moment).unwrap());
        let is_fresh = local > latest;
        latest = latest.max(local);
        (is_fresh && moment > after).then_some((moment, local))
    })
}

fn jiff_zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

/// The search must find what the walk finds; or, if that finds nothing, something later.
fn agree(expression: &Expression, zone_name: &str, after: i64, until: i64) -> Result<(), TestCaseError> {
    let text = expression.text();
    let schedule = Schedule::parse(&text).ok();
    let jiff_zone = jiff_zone(zone_name);
    let mut fresh = fresh_minutes(&jiff_zone, after, until);
    let walked = fresh.find(|(_, local)| expression.fits(*local)).map(|(moment, _)| moment);
    let after = Timestamp::from_millis(after);
    // A date that never comes is refused: the walk must not meet it.
    let next = schedule.and_then(|schedule| schedule.next_after(after, &zone(zone_name), after));
    let found = next.map(Timestamp::millis);
    prop_assert_eq!(found.filter(|moment| *moment <= until), walked, "{} in {}", text, zone_name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_search_finds_what_a_walk_finds(
        expression in expression(),
        after in 315_532_800_000_i64..4_000_000_000_000,
    ) {
        agree(&expression, "UTC", after, after + 40 * DAY)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_search_finds_what_a_walk_finds_where_clocks_change(
        expression in expression(),
        zone_name in prop::sample::select(ZONES),
        // In 1980 and later offsets are whole minutes.
        around in 315_532_800_000_i64..2_500_000_000_000,
        away in -2 * DAY..DAY,
    ) {
        let around = jiff::Timestamp::from_millisecond(around).unwrap();
        let zone = jiff_zone(zone_name);
        let change = zone.following(around).next().map_or(around, |change| change.timestamp());
        let after = change.as_millisecond() + away;
        agree(&expression, zone_name, after, after + 4 * DAY)?;
    }
}

/// All runs after a moment and up to another.
fn all_runs(text: &str, zone_name: &str, after: i64, until: i64) -> Option<Vec<i64>> {
    let (schedule, zone) = (Schedule::parse(text).ok()?, zone(zone_name));
    let next = |after: &i64| {
        let after = Timestamp::from_millis(*after);
        schedule.next_after(after, &zone, after).map(Timestamp::millis).filter(|next| *next <= until)
    };
    Some(std::iter::successors(next(&after), next).collect())
}

#[test]
fn every_minute_is_each_minute_that_clocks_show_for_the_first_time() {
    for zone_name in ["UTC", "Europe/Berlin", "Australia/Lord_Howe"] {
        let (from, zone) = (1_735_689_600_000, jiff_zone(zone_name));
        let walked: Vec<i64> =
            fresh_minutes(&zone, from, from + 400 * DAY).map(|(moment, _)| moment).collect();
        assert_eq!(all_runs("* * * * *", zone_name, from, from + 400 * DAY), Some(walked), "{zone_name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn three_years_have_the_runs_that_a_walk_meets(
        expression in expression(),
        zone_name in prop::sample::select(&["UTC", "Europe/Berlin", "Australia/Lord_Howe"][..]),
        from in 315_532_800_000_i64..2_500_000_000_000,
    ) {
        let (text, zone, until) = (expression.text(), jiff_zone(zone_name), from + 3 * 365 * DAY);
        let fresh = fresh_minutes(&zone, from, until);
        let walked: Vec<i64> = fresh.filter(|(_, local)| expression.fits(*local)).map(|(moment, _)| moment).collect();
        let runs = all_runs(&text, zone_name, from, until).unwrap_or_default();
        prop_assert_eq!(runs, walked, "{} in {}", text, zone_name);
    }
}
