//! Asking for events.

use super::JobEvent;

/// Which events to give. An empty filter lets everything pass; an event must pass all of them.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Only those after this one: the id of an event or the cursor of a page, as text. A text that is
    /// neither counts as a cursor from before a restart.
    pub after: Option<String>,
    /// Only these kinds; `job.*` means all of that beginning.
    pub types: Vec<String>,
    /// Only what happened in these queues.
    pub queues: Vec<String>,
    /// Only what happened to jobs of these types.
    pub job_types: Vec<String>,
    /// At most so many.
    pub limit: usize,
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// The events, oldest first.
    pub events: Vec<JobEvent>,
    /// Where the next page starts, also if this one is empty.
    pub cursor: String,
    /// Whether more pass the filters after these.
    pub has_more: bool,
    /// Whether events between the cursor of the question and this page were lost: the log is bounded, and
    /// starts empty with the server.
    pub gap: bool,
}

impl EventQuery {
    pub(super) fn passes(&self, event: &JobEvent) -> bool {
        let kind = event.kind().name();
        let types = self.types.is_empty() || self.types.iter().any(|pattern| matches(pattern, kind));
        let queues = self.queues.is_empty() || self.queues.iter().any(|name| name == event.queue.as_str());
        let job_type = event.job_type().map_or("", |job_type| job_type.as_str());
        let job_types = self.job_types.is_empty() || self.job_types.iter().any(|name| name == job_type);
        types && queues && job_types
    }
}

/// Events 6.1: prefix matching with `*`.
fn matches(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => kind.starts_with(prefix),
        None => pattern == kind,
    }
}
