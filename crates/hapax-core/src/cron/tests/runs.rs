//! Expressions on days on which clocks do nothing unusual.

use super::{at, check, runs, zone};

/// From Sunday the 1st of March 2026 on, in UTC: the next runs by month, day, hour and minute.
fn check_from_march(text: &str, expected: &[&str]) {
    let full: Vec<String> = expected.iter().map(|short| format!("2026-{short}:00Z")).collect();
    let full: Vec<&str> = full.iter().map(String::as_str).collect();
    check(text, "UTC", "2026-03-01T00:00:00Z", &full);
}

#[test]
fn plain_values_lists_ranges_and_steps() {
    check_from_march("* * * * *", &["03-01T00:01", "03-01T00:02"]);
    check_from_march("30 9 * * *", &["03-01T09:30", "03-02T09:30"]);
    check_from_march("5,35 7,19 * * *", &["03-01T07:05", "03-01T07:35", "03-01T19:05", "03-01T19:35"]);
    check_from_march("*/25 0 * * *", &["03-01T00:25", "03-01T00:50", "03-02T00:00", "03-02T00:25"]);
    check_from_march("10-40/15 6 * * *", &["03-01T06:10", "03-01T06:25", "03-01T06:40", "03-02T06:10"]);
    check_from_march("50/5 6 * * *", &["03-01T06:50", "03-01T06:55", "03-02T06:50"]);
    check_from_march("0 */24 * * *", &["03-02T00:00", "03-03T00:00"]);
    check_from_march("*/60 * * * *", &["03-01T01:00", "03-01T02:00"]);
    check_from_march("0 0 1 */5 *", &["06-01T00:00", "11-01T00:00"]);
    check_from_march("0 12 31 * *", &["03-31T12:00", "05-31T12:00", "07-31T12:00", "08-31T12:00"]);
    check_from_march("007 08 * * *", &["03-01T08:07"]);
}

#[test]
fn names_in_any_case_and_both_sundays() {
    check_from_march("0 9 * * MON-fri", &["03-02T09:00", "03-03T09:00", "03-04T09:00"]);
    check_from_march("0 9 * * sat,Mon", &["03-02T09:00", "03-07T09:00", "03-09T09:00"]);
    check_from_march("0 0 1 Apr,DEC *", &["04-01T00:00", "12-01T00:00"]);
    check_from_march("0 0 2 JAN-APR *", &["03-02T00:00", "04-02T00:00"]);
    for sunday in ["0", "7", "SUN", "0-0", "7-7", "sun-sun"] {
        check_from_march(&format!("0 9 * * {sunday}"), &["03-01T09:00", "03-08T09:00"]);
    }
    for weekend in ["6-7", "SAT-SUN", "6-0", "sat-7", "6,0"] {
        check_from_march(&format!("0 9 * * {weekend}"), &["03-01T09:00", "03-07T09:00", "03-08T09:00"]);
    }
    for start_of_week in ["7-2", "SUN-TUE", "0-2", "7-TUE"] {
        let expected = ["03-01T09:00", "03-02T09:00", "03-03T09:00", "03-08T09:00"];
        check_from_march(&format!("0 9 * * {start_of_week}"), &expected);
    }
    check_from_march("0 9 * * 1-7/3", &["03-01T09:00", "03-02T09:00", "03-05T09:00", "03-08T09:00"]);
}

#[test]
fn seconds_lead_six_fields() {
    let after = "2026-03-01T00:00:00Z";
    let expected = ["2026-03-01T00:00:40Z", "2026-03-01T00:01:00Z", "2026-03-01T00:01:40Z"];
    check("*/40 * * * * *", "UTC", after, &expected);
    check("59 59 23 * * *", "UTC", after, &["2026-03-01T23:59:59Z", "2026-03-02T23:59:59Z"]);
}

#[test]
fn a_run_is_always_after_the_moment_it_is_asked_for() {
    check("0 9 * * *", "UTC", "2026-03-01T08:59:59.999Z", &["2026-03-01T09:00:00Z"]);
    check("0 9 * * *", "UTC", "2026-03-01T09:00:00.000Z", &["2026-03-02T09:00:00Z"]);
    check("* * * * * *", "UTC", "2026-03-01T09:00:00.001Z", &["2026-03-01T09:00:01Z"]);
    check("0 9 * * *", "UTC", "1969-12-31T23:59:59.001Z", &["1970-01-01T09:00:00Z"]);
}

#[test]
fn aliases_stand_for_expressions() {
    for (alias, expected) in [
        ("@yearly", "2027-01-01T00:00:00Z"),
        ("@annually", "2027-01-01T00:00:00Z"),
        ("@monthly", "2026-04-01T00:00:00Z"),
        ("@weekly", "2026-03-08T00:00:00Z"),
        ("@daily", "2026-03-02T00:00:00Z"),
        ("@midnight", "2026-03-02T00:00:00Z"),
        ("@hourly", "2026-03-01T01:00:00Z"),
        (" @Daily\t", "2026-03-02T00:00:00Z"),
    ] {
        check(alias, "UTC", "2026-03-01T00:00:00Z", &[expected]);
    }
}

#[test]
fn days_from_the_end_of_the_month() {
    check_from_march("0 0 L * *", &["03-31T00:00", "04-30T00:00", "05-31T00:00"]);
    check_from_march("0 0 l-3 * *", &["03-28T00:00", "04-27T00:00"]);
    check_from_march("0 0 L-30 * *", &["05-01T00:00", "07-01T00:00", "08-01T00:00"]);
    check_from_march("0 0 1,L * *", &["03-31T00:00", "04-01T00:00", "04-30T00:00"]);
    check("0 0 L 2 *", "UTC", "2026-03-01T00:00:00Z", &["2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"]);
    check("0 0 L-28 2 *", "UTC", "2026-03-01T00:00:00Z", &["2028-02-01T00:00:00Z", "2032-02-01T00:00:00Z"]);
}

#[test]
fn the_weekday_nearest_to_a_day() {
    // The 15th of March 2026 is a Sunday, the 15th of August a Saturday, the 15th of April a Wednesday.
    check_from_march("0 0 15W 3,4,8 *", &["03-16T00:00", "04-15T00:00", "08-14T00:00"]);
    // The 1st of August is a Saturday: the Friday before belongs to another month.
    check_from_march("0 0 1W 8 *", &["08-03T00:00"]);
    // The 31st of May is a Sunday: the Monday after belongs to another month.
    check_from_march("0 0 31w 5 *", &["05-29T00:00"]);
    check_from_march("0 0 31W * *", &["03-31T00:00", "05-29T00:00", "07-31T00:00"]);
    check_from_march("0 0 LW * *", &["03-31T00:00", "04-30T00:00", "05-29T00:00", "06-30T00:00"]);
    check_from_march("0 0 lw 10 *", &["10-30T00:00"]);
}

#[test]
fn the_nth_and_the_last_weekday_of_a_month() {
    check_from_march("0 0 * * 5#3", &["03-20T00:00", "04-17T00:00", "05-15T00:00"]);
    check_from_march("0 0 * * sun#1", &["04-05T00:00", "05-03T00:00"]);
    check_from_march("0 0 * * 7#5", &["03-29T00:00", "05-31T00:00", "08-30T00:00"]);
    check_from_march("0 0 * * 5L", &["03-27T00:00", "04-24T00:00", "05-29T00:00"]);
    check_from_march("0 0 * * FRIl,MON#1", &["03-02T00:00", "03-27T00:00", "04-06T00:00", "04-24T00:00"]);
}

#[test]
fn two_restricted_day_fields_are_an_or() {
    check_from_march(
        "0 0 13 * 5",
        &["03-06T00:00", "03-13T00:00", "03-20T00:00", "03-27T00:00", "04-03T00:00"],
    );
    check_from_march("0 0 10 * MON#2", &["03-09T00:00", "03-10T00:00", "04-10T00:00", "04-13T00:00"]);
    // A step restricts: the 1st, the 16th, the 31st, and Mondays.
    check_from_march("0 0 */15 * 1", &["03-02T00:00", "03-09T00:00", "03-16T00:00", "03-23T00:00"]);
    check_from_march("0 0 2 * */6", &["03-02T00:00", "03-07T00:00", "03-08T00:00"]);
    // A step of one leaves nothing out.
    check_from_march("0 0 */1 * 1", &["03-02T00:00", "03-09T00:00"]);
    check_from_march("0 0 13 * *", &["03-13T00:00", "04-13T00:00"]);
    check_from_march("0 0 31 4 1", &["04-06T00:00", "04-13T00:00"]);
}

#[test]
fn zones_have_their_own_clocks() {
    check("0 9 * * *", "Asia/Tokyo", "2026-03-01T00:00:00Z", &["2026-03-02T09:00:00+09:00"]);
    check("0 9 * * *", "Asia/Kolkata", "2026-03-01T00:00:00Z", &["2026-03-01T09:00:00+05:30"]);
    let summer_comes = ["2026-03-28T09:00:00+01:00", "2026-03-29T09:00:00+02:00"];
    check("0 9 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", &summer_comes);
    let winter_comes = ["2026-10-31T09:00:00-04:00", "2026-11-01T09:00:00-05:00"];
    check("0 9 * * *", "America/New_York", "2026-10-31T00:00:00Z", &winter_comes);
    check("0 0 1 1 *", "Pacific/Kiritimati", "2026-12-31T09:59:59Z", &["2027-01-01T00:00:00+14:00"]);
}

#[test]
fn leap_days_and_other_rare_days_are_found() {
    check("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", &["2104-02-29T00:00:00Z"]);
    // A fifth Monday in February needs a leap day on a Monday: no year for 40 years across 2100.
    check("0 0 * 2 1#5", "UTC", "2072-03-01T00:00:00Z", &["2112-02-29T00:00:00Z"]);
    check("0 0 29 2 1#5", "UTC", "2026-03-01T00:00:00Z", &["2028-02-29T00:00:00Z"]);
}

#[test]
fn every_weekday_of_every_week_comes_in_every_month() {
    for month in 1..=12 {
        for weekday in 0..7 {
            for form in ["#1", "#2", "#3", "#4", "#5", "L", ""] {
                let found = runs(
                    &format!("0 0 * {month} {weekday}{form}"),
                    &zone("UTC"),
                    at("2072-03-01T00:00:00Z"),
                    1,
                );
                assert_eq!(found.len(), 1, "{weekday}{form} in {month}");
            }
        }
    }
}

#[test]
fn the_end_of_the_calendar_ends_every_schedule() {
    assert_eq!(runs("* * * * * *", &zone("UTC"), crate::Timestamp::MAX, 1), []);
    assert_eq!(runs("0 0 29 2 *", &zone("Asia/Tokyo"), at("9996-03-01T00:00:00Z"), 1), []);
    assert_eq!(runs("@every 1d", &zone("UTC"), crate::Timestamp::MAX, 1), []);
    assert_eq!(runs("0 12 * * *", &zone("UTC"), at("9999-12-29T00:00:00Z"), 9).len(), 2);
}
