//! Which events somebody wants.

use super::notice::kind;
use super::{Aspect, EventKind, JobEvent, Notice};

/// Which events somebody wants. An empty list lets everything pass; an event must pass all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only these kinds; `job.*` means all of that beginning.
    pub types: Vec<String>,
    /// Only what happened in these queues.
    pub queues: Vec<String>,
    /// Only what happened to jobs of these types.
    pub job_types: Vec<String>,
}

impl EventFilter {
    /// Whether the notice is wanted.
    pub fn wants(&self, notice: &Notice) -> bool {
        self.passes(&notice.event, notice.aspect)
    }

    /// Whether things of that kind are wanted, wherever they happen.
    pub fn wants_kind(&self, kind: EventKind) -> bool {
        self.types.is_empty() || self.types.iter().any(|pattern| matches(pattern, kind.name()))
    }

    pub(super) fn passes(&self, event: &JobEvent, aspect: Aspect) -> bool {
        let types = self.wants_kind(kind(event, aspect));
        let queues = self.queues.is_empty()
            || self
                .queues
                .iter()
                .any(|name| event.queue.as_ref().is_some_and(|queue| name == queue.as_str()));
        let job_type = event.job_type().map_or("", |job_type| job_type.as_str());
        let job_types = self.job_types.is_empty() || self.job_types.iter().any(|name| name == job_type);
        types && queues && job_types
    }

    /// Whether the kind is asked for by its very name.
    pub(super) fn names(&self, kind: EventKind) -> bool {
        self.types.iter().any(|name| name == kind.name())
    }
}

/// Events 6.1: prefix matching with `*`.
fn matches(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => kind.starts_with(prefix),
        None => pattern == kind,
    }
}
