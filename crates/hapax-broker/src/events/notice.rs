//! What a reader is told: of one event up to two things, each with a name of its own.
//!
//! The documents have two vocabularies. Events 3 has a word for each thing that can happen (`job.completed`), and
//! Real-Time 4.1 has one for every way from state to state (`job.state_changed`). An event carries what both need,
//! so the log holds it once.

use std::sync::Arc;

use super::{EventId, EventKind, JobEvent};

/// One of the things that an event tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// From where to where a job went.
    Step,
    /// What happened.
    Fact,
}

/// An event in one of its aspects.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The event.
    pub event: Arc<JobEvent>,
    /// What is told of it.
    pub aspect: Aspect,
}

impl Notice {
    /// Its name, which is also a cursor.
    pub fn id(&self) -> EventId {
        self.event.id.of(self.aspect)
    }

    /// Its kind.
    pub fn kind(&self) -> EventKind {
        kind(&self.event, self.aspect)
    }
}

/// The kind of an event in that aspect.
pub(super) fn kind(event: &JobEvent, aspect: Aspect) -> EventKind {
    match aspect {
        Aspect::Step => EventKind::JobStateChanged,
        Aspect::Fact => event.kind(),
    }
}
