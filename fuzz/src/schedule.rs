//! Schedules: a run is after the moment it is asked for, and the next one after that.

use hapax_core::Timestamp;
use hapax_core::cron::{Schedule, Zone};

/// From there on, this zone leaves out an hour, repeats one, and leaves out a whole day.
const ZONE: &str = "Pacific/Apia";
const START: &str = "2010-09-01T00:00:00Z";
const RUNS: usize = 20;

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(schedule) = Schedule::parse(text) else { return };
    let zone = Zone::parse(ZONE).expect("the database has it");
    let anchor = Timestamp::parse(START).expect("a moment");
    let mut after = anchor;
    for _ in 0..RUNS {
        let Some(next) = schedule.next_after(after, &zone, anchor) else { return };
        assert!(next > after, "{next} is not after {after}");
        after = next;
    }
    assert!(schedule.skipped_between(anchor, after, &zone).all(|skip| skip.at > anchor && skip.at <= after));
}
