//! The only place that reads clocks and waits: always for a condition, never for a while.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Long enough for anything that should happen at once on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

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
