//! The only place that reads clocks and waits: always for a condition, never for a while.

use std::ops::Range;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// Long enough for anything that should happen at once on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The monotonic clock.
#[expect(clippy::disallowed_methods, reason = "tests of the outside world measure how long it takes")]
pub fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970, for the ids that clients choose.
#[expect(clippy::disallowed_methods, reason = "a client's ids carry the client's own time")]
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

/// The milliseconds from one time that the server wrote to another, less than a day later. Both must be in UTC with
/// three digits of the second, as the server's own times are.
#[track_caller]
pub fn ms_between(earlier: &Value, later: &Value) -> u64 {
    (ms_of_day(later) + DAY_MS - ms_of_day(earlier)) % DAY_MS
}

#[track_caller]
fn ms_of_day(time: &Value) -> u64 {
    let text = time.as_str().filter(|text| text.len() == 24 && text.ends_with('Z'));
    let digits = |range: Range<usize>| text.and_then(|text| text.get(range)?.parse::<u64>().ok());
    let parts = (digits(11..13), digits(14..16), digits(17..19), digits(20..23));
    let (Some(hours), Some(minutes), Some(seconds), Some(ms)) = parts else { panic!("no time: {time}") };
    ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server is another process: there is no signal to wait for"
)]
fn pause() {
    thread::sleep(LOOK_EVERY);
}

/// Looks until there is an answer; panics with `what` when there is none by the deadline.
#[track_caller]
pub fn eventually<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let started = now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < limit, "still waiting after {limit:?}: {what}");
        pause();
    }
}

/// Looks until the condition holds.
#[track_caller]
pub fn until(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    eventually(what, limit, || holds().then_some(()));
}

/// Looks for the whole of `length` and panics as soon as the condition does not hold.
#[track_caller]
pub fn throughout(what: &str, length: Duration, mut holds: impl FnMut() -> bool) {
    let started = now();
    while started.elapsed() < length {
        assert!(holds(), "not after {:?}: {what}", started.elapsed());
        pause();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_day_goes_over_into_the_next() {
        let (late, early) = (json!("2026-12-31T23:59:59.900Z"), json!("2027-01-01T00:00:01.000Z"));
        assert_eq!(ms_between(&late, &early), 1100);
        assert_eq!(ms_between(&late, &late), 0);
    }
}
