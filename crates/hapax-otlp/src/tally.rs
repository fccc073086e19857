//! What became of spans: counted for whoever watches, and said in the log when some are lost.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::Timestamp;

/// How often it is said that spans were lost.
const SAID_EVERY: Duration = Duration::from_mins(1);

/// What became of some spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanCount {
    /// A collector took so many.
    Exported(u64),
    /// No collector took so many, and nobody will try again.
    Dropped(u64),
    /// So many events were forgotten before they could become spans.
    EventsMissed(u64),
}

/// Is told what became of spans.
pub type SpanCounter = Arc<dyn Fn(SpanCount) + Send + Sync>;

/// Counts.
pub(crate) struct Tally {
    counter: SpanCounter,
    lost: Lost,
    said_at: Option<Timestamp>,
}

/// What was lost and has not been said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lost {
    spans: u64,
    events: u64,
    why: Option<Box<str>>,
}

impl Tally {
    pub(crate) fn new(counter: SpanCounter) -> Tally {
        Tally { counter, lost: Lost::default(), said_at: None }
    }

    pub(crate) fn exported(&self, spans: u64) {
        (self.counter)(SpanCount::Exported(spans));
    }

    pub(crate) fn dropped(&mut self, spans: u64, why: Box<str>, now: Timestamp) {
        (self.counter)(SpanCount::Dropped(spans));
        self.lost.spans += spans;
        self.lost.why = Some(why);
        self.say(now);
    }

    pub(crate) fn missed(&mut self, events: u64, now: Timestamp) {
        (self.counter)(SpanCount::EventsMissed(events));
        self.lost.events += events;
        self.say(now);
    }

    fn say(&mut self, now: Timestamp) {
        if let Some(Lost { spans, events, why }) = self.due(now) {
            let why = why.as_deref().unwrap_or("the collector is too slow");
            tracing::warn!(spans, events, why, "spans did not reach the collector and are lost");
        }
    }

    /// What is to be said now: not every time, and nothing is left out in the end.
    fn due(&mut self, now: Timestamp) -> Option<Lost> {
        // A clock that was set back must not silence it.
        let was_said = |at: Timestamp| now >= at && now.since(at) < SAID_EVERY;
        if self.lost == Lost::default() || self.said_at.is_some_and(was_said) {
            return None;
        }
        self.said_at = Some(now);
        Some(mem::take(&mut self.lost))
    }

    /// Says what is left to be said.
    pub(crate) fn finish(&mut self, now: Timestamp) {
        self.said_at = None;
        self.say(now);
    }
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").field("lost", &self.lost).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_said_once_a_minute_and_then_with_all_that_was_lost() {
        let mut tally = Tally::new(Arc::new(|_| {}));
        let at = Timestamp::from_millis;
        let mut lose = |millis| {
            tally.lost.spans += 3;
            tally.due(at(millis)).map(|lost| lost.spans)
        };
        assert_eq!(lose(0), Some(3));
        assert_eq!((lose(1), lose(59_999)), (None, None));
        assert_eq!(lose(60_000), Some(9));
        assert_eq!(lose(5), Some(3), "the clock was set back");
    }
}
