//! The newest events, in a bounded ring.

use std::collections::VecDeque;
use std::sync::Arc;

use hapax_core::Timestamp;

use super::event::Unnumbered;
use super::id::Run;
use super::place::Place;
use super::{Aspect, EventId, Gap, JobEvent};

/// How many events are kept.
pub const EVENTS_KEPT: usize = 100_000;

#[derive(Debug)]
pub(super) struct Ring {
    run: Run,
    /// Numbered without holes.
    events: VecDeque<Arc<JobEvent>>,
    newest: u64,
}

/// Where to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// The last thing that the reader knows.
    pub(super) known: Place,
    /// What the reader missed after it.
    pub(super) gap: Option<Gap>,
}

impl Ring {
    pub(super) fn new(run: Run) -> Ring {
        Ring { run, events: VecDeque::new(), newest: 0 }
    }

    pub(super) fn push(&mut self, event: Unnumbered) {
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.newest += 1;
        let Unnumbered { at, queue, news, traced } = event;
        let id = EventId::new(at, self.run, Place::after(self.newest));
        self.events.push_back(Arc::new(JobEvent { seq: self.newest, id, at, queue, news, traced }));
    }

    /// Forgets all events. Their numbers are not used again.
    pub(super) fn clear(&mut self) {
        self.events.clear();
    }

    /// Where a reader starts that knows nothing.
    pub(super) fn oldest(&self) -> Start {
        Start { known: Place::after(self.before_oldest()), gap: None }
    }

    /// Where a reader starts that knows everything up to this cursor, if it could be read.
    pub(super) fn resume(&self, cursor: Option<EventId>) -> Start {
        let oldest = Place::after(self.before_oldest());
        let Some(id) = cursor.filter(|id| self.knows(*id)) else {
            let since = cursor.and_then(EventId::at);
            return Start { known: oldest, gap: Some(self.gap(since, None)) };
        };
        let (_, known) = id.place();
        if known >= oldest {
            return Start { known, gap: None };
        }
        Start { known: oldest, gap: Some(self.gap_after(known, id.at())) }
    }

    /// Whether this is the name of an event of this run.
    pub(super) fn knows(&self, id: EventId) -> bool {
        let (run, place) = id.place();
        let kept = self.kept(place.seq());
        // The number of another run may by chance be equal: an event that is here must be the very one.
        let is_same = kept.is_none_or(|event| event.id == id.of(Aspect::Fact));
        run == self.run && is_same && place.seq() <= self.newest
    }

    /// What a reader missed that stands at a place before the oldest event.
    pub(super) fn gap_after(&self, known: Place, since: Option<Timestamp>) -> Gap {
        self.gap(since, Some(self.before_oldest() - known.known_wholly()))
    }

    /// What a reader missed since then, up to the oldest event.
    pub(super) fn gap(&self, since: Option<Timestamp>, missed: Option<u64>) -> Gap {
        Gap { since, until: self.events.front().map(|event| event.at), missed }
    }

    /// The events of which something comes after that place, oldest first.
    pub(super) fn after(&self, known: Place) -> impl Iterator<Item = &Arc<JobEvent>> {
        let skip = known.known_wholly().saturating_sub(self.before_oldest());
        self.events.range(usize::try_from(skip).unwrap_or(usize::MAX).min(self.events.len())..)
    }

    /// The events before the one of that number, newest first.
    pub(super) fn before(&self, seq: u64) -> impl Iterator<Item = &Arc<JobEvent>> {
        let count = seq.saturating_sub(self.before_oldest() + 1);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.events.len());
        self.events.range(..count).rev()
    }

    /// The cursor of a reader that stands at that place; its time is `otherwise` if no event has one.
    pub(super) fn cursor(&self, known: Place, otherwise: Timestamp) -> EventId {
        let at = self.kept(known.seq()).map_or(otherwise, |event| event.at);
        EventId::new(at, self.run, known)
    }

    /// The number of the newest event.
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    fn kept(&self, seq: u64) -> Option<&Arc<JobEvent>> {
        let index = seq.checked_sub(self.before_oldest() + 1)?;
        self.events.get(usize::try_from(index).ok()?)
    }

    /// The number before that of the oldest event kept.
    pub(super) fn before_oldest(&self) -> u64 {
        self.newest - self.events.len() as u64
    }
}
