//! The newest events, in a bounded ring.

use std::collections::VecDeque;

use hapax_core::Timestamp;

use super::event::Unnumbered;
use super::id::Run;
use super::{EventId, JobEvent};

/// How many events are kept.
pub const EVENTS_KEPT: usize = 100_000;

#[derive(Debug)]
pub(super) struct Ring {
    run: Run,
    /// Numbered without holes.
    events: VecDeque<JobEvent>,
    newest: u64,
}

/// Where to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// The number of the last event that the reader knows.
    pub(super) known: u64,
    /// Whether the reader missed some after it.
    pub(super) gap: bool,
}

impl Ring {
    pub(super) fn new(run: Run) -> Ring {
        Ring { run, events: VecDeque::new(), newest: 0 }
    }

    pub(super) fn push(&mut self, event: Unnumbered) -> &JobEvent {
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.newest += 1;
        let Unnumbered { at, queue, news } = event;
        let id = EventId::new(at, self.run, self.newest);
        self.events.push_back(JobEvent { seq: self.newest, id, at, queue, news });
        &self.events[self.events.len() - 1]
    }

    /// Forgets all events. Their numbers are not used again.
    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    /// Where a reader starts that knows nothing.
    pub(super) fn oldest(&self) -> Start {
        Start { known: self.before_oldest(), gap: false }
    }

    /// Where a reader starts that knows everything up to this cursor, if it could be read.
    pub(super) fn resume(&self, cursor: Option<EventId>) -> Start {
        let oldest = self.before_oldest();
        let lost = Start { known: oldest, gap: true };
        let Some((id, (run, seq))) = cursor.map(|id| (id, id.place())) else { return lost };
        let kept =
            seq.checked_sub(oldest + 1).and_then(|index| self.events.get(usize::try_from(index).ok()?));
        // The number of another run may by chance be equal: an event that is here must be the very one.
        let same = run == self.run && kept.is_none_or(|event| event.id == id);
        if same && (oldest..=self.newest).contains(&seq) { Start { known: seq, gap: false } } else { lost }
    }

    /// The events after that number, oldest first.
    pub(super) fn after(&self, known: u64) -> impl Iterator<Item = &JobEvent> {
        let skip = known.saturating_sub(self.before_oldest());
        self.events.range(usize::try_from(skip).unwrap_or(usize::MAX).min(self.events.len())..)
    }

    /// The cursor of a reader that knows everything up to that number.
    pub(super) fn cursor(&self, known: u64) -> EventId {
        let index = known.checked_sub(self.before_oldest() + 1).and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.events.get(index)) {
            Some(event) => event.id,
            None => EventId::new(Timestamp::EPOCH, self.run, known),
        }
    }

    /// The number before that of the oldest event kept.
    pub(super) fn before_oldest(&self) -> u64 {
        self.newest - self.events.len() as u64
    }
}
