//! Nights on which clocks are set forward or back.

use super::{at, check, runs, schedule, skips, zone};
use crate::Timestamp;

const BERLIN: &str = "Europe/Berlin";
const NEW_YORK: &str = "America/New_York";
const LORD_HOWE: &str = "Australia/Lord_Howe";
const APIA: &str = "Pacific/Apia";

#[test]
fn a_time_that_clocks_jump_over_is_not_due_that_day() {
    let expected = ["2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00"];
    check("30 2 * * *", BERLIN, "2026-03-28T00:00:00Z", &expected);
    let expected = ["2026-03-07T02:30:00-05:00", "2026-03-09T02:30:00-04:00"];
    check("30 2 * * *", NEW_YORK, "2026-03-07T00:00:00Z", &expected);
}

#[test]
fn the_edges_of_a_jump_are_due() {
    let expected = ["2026-03-29T01:59:59+01:00", "2026-03-30T01:59:59+02:00"];
    check("59 59 1 * * *", BERLIN, "2026-03-29T00:00:00Z", &expected);
    let expected = ["2026-03-28T02:00:00+01:00", "2026-03-30T02:00:00+02:00"];
    check("0 2 * * *", BERLIN, "2026-03-28T00:00:00Z", &expected);
    let expected = ["2026-03-29T03:00:00+02:00", "2026-03-30T03:00:00+02:00"];
    check("0 3 * * *", BERLIN, "2026-03-29T00:00:00Z", &expected);
}

#[test]
fn a_time_that_clocks_show_twice_is_due_at_the_first_showing() {
    let expected = ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"];
    check("30 2 * * *", BERLIN, "2026-10-25T00:00:00Z", &expected);
    let expected = ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"];
    check("30 1 * * *", NEW_YORK, "2026-11-01T00:00:00-04:00", &expected);
    // Asked between the two showings and during the second.
    check("30 2 * * *", BERLIN, "2026-10-25T01:10:00Z", &["2026-10-26T02:30:00+01:00"]);
    check("30 2 * * *", BERLIN, "2026-10-25T01:45:00Z", &["2026-10-26T02:30:00+01:00"]);
}

#[test]
fn the_edges_of_a_repeated_hour_are_due_once() {
    let expected = ["2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"];
    check("0 2 * * *", BERLIN, "2026-10-25T00:00:00+02:00", &expected);
    let expected = ["2026-10-25T02:59:59+02:00", "2026-10-26T02:59:59+01:00"];
    check("59 59 2 * * *", BERLIN, "2026-10-25T00:00:00+02:00", &expected);
    let expected = ["2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"];
    check("0 3 * * *", BERLIN, "2026-10-25T00:00:00+02:00", &expected);
}

#[test]
fn every_minute_and_every_hour_pause_for_the_repeated_hour() {
    let expected = ["2026-10-25T02:58:00+02:00", "2026-10-25T02:59:00+02:00", "2026-10-25T03:00:00+01:00"];
    check("* * * * *", BERLIN, "2026-10-25T02:57:00+02:00", &expected);
    let expected = ["2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00"];
    check("0 * * * *", BERLIN, "2026-10-25T00:00:00+02:00", &expected);
    check("* * * * * *", BERLIN, "2026-10-25T02:00:00+01:00", &["2026-10-25T03:00:00+01:00"]);
}

#[test]
fn every_minute_and_every_hour_go_on_where_clocks_jump() {
    let expected = ["2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:01:00+02:00"];
    check("* * * * *", BERLIN, "2026-03-29T01:58:00+01:00", &expected);
    let expected = ["2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"];
    check("0 * * * *", BERLIN, "2026-03-29T00:00:00+01:00", &expected);
}

#[test]
fn clocks_may_move_by_half_an_hour() {
    // Forward at 2:00 on the 4th of October 2026, back at 2:00 on the 5th of April.
    let expected = ["2026-10-03T02:15:00+10:30", "2026-10-05T02:15:00+11:00"];
    check("15 2 * * *", LORD_HOWE, "2026-10-03T00:00:00+10:30", &expected);
    let expected = ["2026-10-03T02:30:00+10:30", "2026-10-04T02:30:00+11:00"];
    check("30 2 * * *", LORD_HOWE, "2026-10-03T00:00:00+10:30", &expected);
    let expected = ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"];
    check("45 1 * * *", LORD_HOWE, "2026-04-05T00:00:00+11:00", &expected);
    let expected = ["2026-04-05T01:15:00+11:00", "2026-04-05T01:45:00+11:00", "2026-04-05T02:15:00+10:30"];
    check("15,45 * * * *", LORD_HOWE, "2026-04-05T01:00:00+11:00", &expected);
}

#[test]
fn a_whole_day_may_be_missing() {
    // Samoa went from the 29th to the 31st of December 2011.
    let expected = ["2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"];
    check("0 12 * * *", APIA, "2011-12-29T00:00:00-10:00", &expected);
    check("0 12 30 12 *", APIA, "2011-12-01T00:00:00Z", &["2012-12-30T12:00:00+14:00"]);
    check("* * * * * *", APIA, "2011-12-29T23:59:59-10:00", &["2011-12-31T00:00:00+14:00"]);
    // The last Friday of that month was among what is missing.
    check("0 12 * 12 5L", APIA, "2011-12-01T00:00:00Z", &["2012-12-28T12:00:00+14:00"]);
}

#[test]
fn clocks_may_go_back_across_midnight() {
    // From midnight to 23:00 of the day before, on the 18th of February 2018.
    let zone = "America/Sao_Paulo";
    let expected = ["2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"];
    check("30 23 * * *", zone, "2018-02-17T12:00:00Z", &expected);
    check("30 23 * * *", zone, "2018-02-17T23:10:00-03:00", &["2018-02-18T23:30:00-03:00"]);
    let expected = ["2018-02-17T00:00:00-02:00", "2018-02-18T00:00:00-03:00", "2018-02-19T00:00:00-03:00"];
    check("0 0 * * *", zone, "2018-02-16T12:00:00Z", &expected);
    // Midnight itself was missing when they went forward, on the 4th of November.
    let expected = ["2018-11-03T00:00:00-03:00", "2018-11-05T00:00:00-02:00"];
    check("0 0 * * *", zone, "2018-11-02T12:00:00Z", &expected);
}

#[test]
fn what_clocks_always_jump_over_is_never_due() {
    let berlin = zone(BERLIN);
    assert_eq!(runs("30 2 * 3 0L", &berlin, at("2026-01-01T00:00:00Z"), 1), []);
    assert_eq!(runs("* 30-59 2 * 3 0L", &berlin, at("2026-01-01T00:00:00Z"), 1), []);
    assert_eq!(runs("30 3 * 3 0L", &berlin, at("2026-01-01T00:00:00Z"), 1).len(), 1);
}

#[test]
fn the_worst_search_is_short() {
    // A walk by minutes would look at fifty million of them each time: this test would not end.
    let never = schedule("30 2 * 3 0L");
    let rare = schedule("0 0 * 2 1#5");
    let (berlin, casablanca) = (zone(BERLIN), zone("Africa/Casablanca"));
    let start = at("2072-03-01T00:00:00Z");
    for number in 0..200 {
        let after = Timestamp::from_millis(start.millis() + number);
        assert_eq!(never.next_after(after, &berlin, after), None);
        assert!(rare.next_after(after, &casablanca, after).is_some());
    }
}

#[test]
fn a_skip_tells_when_and_what() {
    let found = skips("30 2 * * *", BERLIN, "2026-01-01T00:00:00Z", "2028-01-01T00:00:00Z");
    let found: Vec<(String, &str)> = found.iter().map(|skip| (skip.at.to_string(), &*skip.local)).collect();
    let first = ("2026-03-29T01:00:00.000Z".to_owned(), "2026-03-29T02:30:00");
    let second = ("2027-03-28T01:00:00.000Z".to_owned(), "2027-03-28T02:30:00");
    assert_eq!(found, [first, second]);
}

#[test]
fn a_skip_is_told_once_however_many_ticks_it_hid() {
    let found = skips("* * * * *", BERLIN, "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
    assert_eq!(found.len(), 1);
    assert_eq!(&*found[0].local, "2026-03-29T02:00:00");
    let found = skips("0 12 * * *", APIA, "2011-12-01T00:00:00Z", "2012-01-01T00:00:00Z");
    assert_eq!(&*found[0].local, "2011-12-30T12:00:00");
}

#[test]
fn a_skip_counts_after_the_first_moment_and_up_to_the_second() {
    let jump = "2026-03-29T01:00:00Z";
    assert_eq!(skips("30 2 * * *", BERLIN, "2026-03-29T00:59:59.999Z", jump).len(), 1);
    assert_eq!(skips("30 2 * * *", BERLIN, jump, "2026-03-30T00:00:00Z").len(), 0);
    assert_eq!(skips("30 2 * * *", BERLIN, "2026-03-29T00:00:00Z", "2026-03-29T00:59:59.999Z").len(), 0);
}

#[test]
fn nothing_is_skipped_where_nothing_is_hidden() {
    let year = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    for (text, zone) in [
        ("30 3 * * *", BERLIN),
        ("0 3 * * *", BERLIN),
        ("30 1 * * *", BERLIN),
        ("30 2 * * 1", BERLIN),
        ("30 2 * * *", "UTC"),
        ("30 2 * * *", "Asia/Tokyo"),
        ("@every 1m", BERLIN),
    ] {
        assert_eq!(skips(text, zone, year.0, year.1), [], "{text} in {zone}");
    }
}
