//! The starts of jobs that share a key, as far back as somebody counts them.

use std::time::Duration;

use super::{Limits, Pace};
use crate::Timestamp;

/// Into how many parts a window is divided. A start counts until the last one of its part has left the window.
const PARTS: u32 = 64;

/// Most spans that are remembered. A window has fewer; only windows of different lengths over one key can have more, and
/// then the oldest become one.
pub const SPANS_MAX: usize = 128;

/// Starts that lie close together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When the first of them was.
    pub first: Timestamp,
    /// When the last was.
    pub last: Timestamp,
    /// How many there were.
    pub count: u32,
}

/// See above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Starts {
    /// Oldest first.
    pub spans: Vec<Span>,
    /// How long they count.
    pub counted_for: Duration,
    /// The newest start.
    pub last: Option<Timestamp>,
    /// How long it keeps others away.
    pub apart: Duration,
}

impl Starts {
    /// Notes a start under these limits.
    pub(super) fn note(&mut self, limits: &Limits, now: Timestamp) {
        if let Some(pace) = limits.throttle {
            self.last = Some(self.last.map_or(now, |last| last.max(now)));
            self.apart = self.apart.max(pace.gap());
        }
        if let Some(pace) = limits.rate {
            self.counted_for = self.counted_for.max(pace.period());
            self.count(pace.period() / PARTS, now);
        }
    }

    fn count(&mut self, part: Duration, now: Timestamp) {
        match self.spans.last_mut() {
            // A clock that was set back does not open a new part.
            Some(span) if now.since(span.first) < part || now <= span.last => {
                span.last = span.last.max(now);
                span.count = span.count.saturating_add(1);
            }
            _ => self.spans.push(Span { first: now, last: now, count: 1 }),
        }
        if self.spans.len() > SPANS_MAX {
            let oldest = self.spans.remove(0);
            let next = &mut self.spans[0];
            *next = Span { first: oldest.first, count: next.count.saturating_add(oldest.count), ..*next };
        }
    }

    /// Forgets what counts for nobody any more.
    pub(super) fn forget(&mut self, now: Timestamp) {
        let counted_for = self.counted_for;
        self.spans.retain(|span| counts(span.last, counted_for, now));
        self.last = self.last.filter(|last| counts(*last, self.apart, now));
        if self.spans.is_empty() {
            self.counted_for = Duration::ZERO;
        }
        if self.last.is_none() {
            self.apart = Duration::ZERO;
        }
    }

    /// How many there were in the window that ends now.
    pub fn in_window(&self, period: Duration, now: Timestamp) -> u64 {
        self.spans
            .iter()
            .filter(|span| counts(span.last, period, now))
            .map(|span| u64::from(span.count))
            .sum()
    }

    /// When there will be fewer than the limit in the window.
    pub fn room_at(&self, pace: Pace, now: Timestamp) -> Option<Timestamp> {
        let mut count = self.in_window(pace.period(), now);
        let counting = self.spans.iter().filter(|span| counts(span.last, pace.period(), now));
        for span in counting {
            if count < u64::from(pace.limit()) {
                break;
            }
            count -= u64::from(span.count);
            if count < u64::from(pace.limit()) {
                return Some(span.last + pace.period());
            }
        }
        None
    }

    /// Until when the newest start keeps others away.
    pub fn apart_until(&self, pace: Pace, now: Timestamp) -> Option<Timestamp> {
        let last = self.last.filter(|last| counts(*last, pace.gap(), now));
        last.map(|last| last + pace.gap())
    }

    /// When all of it can be forgotten.
    pub(super) fn end(&self) -> Option<Timestamp> {
        let spans = self.spans.last().map(|span| span.last + self.counted_for);
        spans.into_iter().chain(self.last.map(|last| last + self.apart)).max()
    }
}

/// Whether a start still counts. One that lies ahead by more than it could count was noted by a clock that was wrong: it
/// keeps nobody away, for else that would last until the clock is right. By less, the clock may have been set back a little.
fn counts(start: Timestamp, period: Duration, now: Timestamp) -> bool {
    start + period > now && start <= now + period
}
