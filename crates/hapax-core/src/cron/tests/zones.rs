//! Names of time zones.

use jiff::civil::date;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::super::schedule::CHANGES_MAX;
use super::super::{Zone, ZoneError};

fn refusal(text: &str) -> String {
    Zone::parse(text).unwrap_err().to_string()
}

#[test]
fn names_of_the_database_are_zones_however_they_are_cased() {
    for (text, name) in [
        ("UTC", "UTC"),
        ("utc", "UTC"),
        ("Etc/UTC", "Etc/UTC"),
        ("Europe/Berlin", "Europe/Berlin"),
        ("america/new_york", "America/New_York"),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("Asia/Calcutta", "Asia/Calcutta"),
        ("EST5EDT", "EST5EDT"),
        ("CET", "CET"),
        ("GMT", "GMT"),
        ("Etc/GMT+2", "Etc/GMT+2"),
    ] {
        assert_eq!(Zone::parse(text).unwrap().name(), name);
    }
    assert_eq!(Zone::default(), Zone::parse("UTC").unwrap());
    assert_eq!(Zone::parse("europe/BERLIN").unwrap().to_string(), "Europe/Berlin");
}

#[test]
fn a_name_reads_back_as_the_same_zone() {
    for text in ["UTC", "Etc/UTC", "Asia/Tokyo", "Zulu", "Japan"] {
        let zone = Zone::parse(text).unwrap();
        assert_eq!(Zone::parse(zone.name()), Ok(zone), "{text}");
    }
}

#[test]
fn offsets_are_refused() {
    for text in ["+02:00", "-08:00", "+0530", "UTC+5", "GMT+2", "GMT-2", "UTC-05:00", "05:00"] {
        let rest =
            "is an offset, which knows nothing of summer time: write an IANA name such as Europe/Berlin";
        assert_eq!(refusal(text), format!("\"{text}\" {rest}"));
    }
}

#[test]
fn abbreviations_are_refused_even_if_the_database_has_them() {
    for text in ["EST", "est", "MST", "HST", "PST", "CST", "CEST", "BST", "Z"] {
        let rest = "is an abbreviation with several meanings: write an IANA name such as America/New_York";
        assert_eq!(refusal(text), format!("\"{text}\" {rest}"));
    }
}

#[test]
fn other_names_are_refused_with_the_one_that_was_meant() {
    let unknown = "is no time zone of the IANA database, such as Europe/Berlin or UTC";
    for (text, meant) in [
        ("Europe/Berln", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("America/NewYork", "America/New_York"),
        ("US/Pacifc", "US/Pacific"),
    ] {
        assert_eq!(refusal(text), format!("\"{text}\" {unknown}; did you mean {meant}?"));
    }
    for text in ["Mars/Olympus_Mons", "Europe/Berlin/", "Factory", "Etc/Unknown", "local", "../../etc/passwd"]
    {
        assert!(refusal(text).starts_with(&format!("\"{text}\" {unknown}")), "{text}");
    }
    assert!(refusal(&"x".repeat(10_000)).len() < 200);
}

#[test]
fn nothing_is_no_zone() {
    assert_eq!(Zone::parse(""), Err(ZoneError::Empty));
    assert_eq!(Zone::parse(" "), Err(ZoneError::Empty));
}

#[test]
fn no_zone_changes_its_clocks_more_often_than_a_search_goes_on() {
    let database = TimeZoneDatabase::bundled();
    for name in database.available() {
        let zone = database.get(name.as_str()).unwrap();
        let start = |year| TimeZone::UTC.to_timestamp(date(year, 1, 1).at(0, 0, 0, 0)).unwrap();
        let changes =
            zone.following(start(1850)).take_while(|change| change.timestamp() < start(2250)).count();
        assert!(changes < CHANGES_MAX, "{name:?}: {changes}");
    }
}
