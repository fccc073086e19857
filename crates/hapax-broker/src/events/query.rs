//! Asking for events.

use std::sync::Arc;

use hapax_core::Timestamp;

use super::{Aspect, EventFilter, EventKind, JobEvent, Notice};

/// Which part of the log to give.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Only what came after this: the id of an event or the cursor of a page, as text. A text that is
    /// neither counts as a cursor from before a restart.
    pub after: Option<String>,
    /// Only what passes. The steps of jobs are given if they are asked for by name: who asks for `job.*` wants to be
    /// told of everything once.
    pub filter: EventFilter,
    /// Only what happened then or later.
    pub since: Option<Timestamp>,
    /// At most so many.
    pub limit: usize,
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// What happened, oldest first.
    pub events: Vec<Notice>,
    /// Where the next page starts, also if this one is empty.
    pub cursor: String,
    /// Whether more pass the filters after these.
    pub has_more: bool,
    /// Whether events between the cursor of the question and this page were lost: the log is bounded, and
    /// starts empty with the server.
    pub gap: bool,
}

/// What came after an event, whole and unfiltered.
#[derive(Debug, Clone, PartialEq)]
pub struct EventTail {
    /// How many came before these and are forgotten.
    pub missed: u64,
    /// What happened, oldest first.
    pub events: Vec<Arc<JobEvent>>,
}

impl EventQuery {
    pub(super) fn asks_for(&self, event: &JobEvent, aspect: Aspect) -> bool {
        let is_named = match aspect {
            Aspect::Step => self.filter.names(EventKind::JobStateChanged),
            Aspect::Fact => true,
        };
        let is_late = self.since.is_none_or(|since| event.at >= since);
        is_named && is_late && self.filter.passes(event, aspect)
    }
}
