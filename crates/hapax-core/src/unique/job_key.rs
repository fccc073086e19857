//! Job keys: a name that the client gives a job, to replace, update or remove it later (Graphile Worker).

use super::{Anchor, Key, Resolution, Takeover, Watch};
use crate::canonical::{self, CanonicalError, Part};
use crate::{Job, State, StateSet};

/// The name of a job among all that wait, run or were given up. It is global: type and queue do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobKey {
    /// The name.
    pub name: Box<str>,
    /// What happens to the job that has it.
    pub mode: JobKeyMode,
}

/// What happens to the job that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKeyMode {
    /// It takes over every attribute.
    Replace,
    /// It takes over every attribute but its start time.
    PreserveRunAt,
    /// It stays as it is, whatever became of it.
    UnsafeDedupe,
}

impl JobKeyMode {
    /// Every mode.
    pub const ALL: [JobKeyMode; 3] =
        [JobKeyMode::Replace, JobKeyMode::PreserveRunAt, JobKeyMode::UnsafeDedupe];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            JobKeyMode::Replace => "replace",
            JobKeyMode::PreserveRunAt => "preserve_run_at",
            JobKeyMode::UnsafeDedupe => "unsafe_dedupe",
        }
    }
}

impl JobKey {
    /// Completed and cancelled jobs do not keep the name, given-up ones do.
    pub const WATCH: Watch = Watch {
        states: StateSet::INCOMPLETE.with(State::Discarded),
        period: None,
        period_from: Anchor::CreatedAt,
        every_live: false,
    };

    /// The canonical text of the name. No unique policy has this form, since each of those has a type.
    pub fn canonical_text(name: &str) -> Result<String, CanonicalError> {
        canonical::object(vec![("job_key", Part::Text(name))])
    }

    /// The key under which the name is held.
    pub fn key(name: &str) -> Result<Key, CanonicalError> {
        JobKey::canonical_text(name).map(|text| Key::of_text(&text))
    }
}

/// What becomes of an incoming job whose name this job has.
pub(super) fn resolve(mode: JobKeyMode, holder: &Job) -> Resolution {
    let id = holder.id;
    let keeps_start = match mode {
        JobKeyMode::UnsafeDedupe => return Resolution::Existing(id),
        JobKeyMode::Replace => false,
        JobKeyMode::PreserveRunAt => !has_failed(holder),
    };
    if holder.state() == State::Active {
        return Resolution::Supersede(id);
    }
    Resolution::Update { holder: id, takeover: Takeover::Renew { keeps_start } }
}

/// Whether the job was tried or given up: then it starts again from nothing.
fn has_failed(holder: &Job) -> bool {
    holder.attempt > 0 || holder.state() == State::Discarded
}

#[cfg(test)]
mod tests;
