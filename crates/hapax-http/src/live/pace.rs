//! The pace of all streams together: what is told to ten thousand listeners must not take the time of those who write.
//!
//! An event that is heard by many is written once for each of them, which no machine does for nothing. Streams take turns
//! within a share of one processor; when they cannot keep up, each hears less often and more at a time, and in the end that
//! events were dropped. A few listeners never wait.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What a turn counts for: several times what it costs, so that streams take a part of one processor, not all of it.
const TURN: Duration = Duration::from_micros(50);
/// What each byte that is told counts for beside that.
const BYTE: Duration = Duration::from_nanos(1);
/// So much may be used at once after a while of silence: hundreds of listeners hear of an event without a pause.
const SAVED_MAX: Duration = Duration::from_millis(20);

/// Who would wait for less than this goes at once: sleeping takes a millisecond or two, however short it is meant to be.
const SLACK: Duration = Duration::from_millis(2);

/// Gives turns to streams.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Up to when the time is given away.
    given_until: Mutex<Instant>,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Pace {
        Pace { given_until: Mutex::new(now) }
    }

    /// A turn: when it begins, unless it may at once.
    pub(crate) fn turn(&self, now: Instant) -> Option<Instant> {
        let begin = self.take(TURN, now);
        (begin > now + SLACK).then_some(begin)
    }

    /// So many bytes were told in a turn.
    pub(crate) fn told(&self, bytes: usize, now: Instant) {
        self.take(BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX)), now);
    }

    /// Gives so much time away; where it begins.
    fn take(&self, time: Duration, now: Instant) -> Instant {
        let mut given_until = self.given_until.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = now.checked_sub(SAVED_MAX).unwrap_or(now);
        let begin = (*given_until).max(earliest);
        *given_until = begin + time;
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_go_at_once_and_many_one_after_the_other() {
        let now = Instant::now() + Duration::from_secs(1);
        let pace = Pace::new(now.checked_sub(SAVED_MAX).unwrap());
        let at_once = (SAVED_MAX + SLACK).as_micros() / TURN.as_micros();
        for _ in 0..=at_once {
            assert_eq!(pace.turn(now), None);
        }
        let next = now + SLACK + TURN;
        assert_eq!([pace.turn(now), pace.turn(now)], [Some(next), Some(next + TURN)]);
        assert_eq!(pace.turn(now + Duration::from_secs(9)), None);
    }

    #[test]
    fn who_was_told_much_makes_the_others_wait() {
        let now = Instant::now() + Duration::from_secs(1);
        let pace = Pace::new(now);
        assert_eq!(pace.turn(now), None);
        pace.told(10_000_000, now);
        assert_eq!(pace.turn(now), Some(now + TURN + BYTE * 10_000_000));
    }
}
