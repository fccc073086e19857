//! How an incoming job is compared with holders, and what happens when it is a duplicate.

use std::fmt;
use std::time::Duration;

use crate::{Job, State, StateSet, Timestamp};

/// A unique policy, complete: what the client left out has its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniquePolicy {
    /// What the key is made of, besides the type.
    pub dimensions: Dimensions,
    /// The members of `args` that count; all of them if not given.
    pub args_keys: Option<Vec<Box<str>>>,
    /// The members of `meta` that count.
    pub meta_keys: Option<Vec<Box<str>>>,
    /// The client's own key instead of `args` and `meta`.
    pub key: Option<Box<str>>,
    /// How long a holder counts; for ever if not given.
    pub period: Option<Duration>,
    /// From which of the holder's moments the period runs.
    pub period_from: Anchor,
    /// The states in which a holder counts.
    pub states: StateSet,
    /// What happens to a duplicate.
    pub on_conflict: Strategy,
    /// The fields of the holder that a duplicate overwrites, instead of `on_conflict`.
    pub replace: Option<Replacement>,
}

/// The optional parts of a key. The type is always part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimensions {
    /// Jobs on other queues are others.
    pub queue: bool,
    /// Jobs with other arguments are others.
    pub args: bool,
    /// Jobs with other metadata are others.
    pub meta: bool,
}

/// The moment of the holder from which a period runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// When it was accepted.
    CreatedAt,
    /// When it was to start; when it was accepted, if it was never scheduled.
    ScheduledAt,
    /// When it ended; as long as it has not, the period has not begun.
    FinishedAt,
}

impl Anchor {
    /// Every anchor.
    pub const ALL: [Anchor; 3] = [Anchor::CreatedAt, Anchor::ScheduledAt, Anchor::FinishedAt];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Anchor::CreatedAt => "created_at",
            Anchor::ScheduledAt => "scheduled_at",
            Anchor::FinishedAt => "finished_at",
        }
    }
}

/// What happens to a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The duplicate is refused.
    Reject,
    /// The holder is the answer.
    Ignore,
    /// The holder is called off and the duplicate takes its place.
    Replace,
    /// A scheduled holder takes over everything but the schedule; others are replaced.
    ReplaceExceptSchedule,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 4] =
        [Strategy::Reject, Strategy::Ignore, Strategy::Replace, Strategy::ReplaceExceptSchedule];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Reject => "reject",
            Strategy::Ignore => "ignore",
            Strategy::Replace => "replace",
            Strategy::ReplaceExceptSchedule => "replace_except_schedule",
        }
    }
}

/// A field of a holder that a duplicate may overwrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// The arguments.
    Args,
    /// The metadata.
    Meta,
    /// The priority.
    Priority,
    /// The queue.
    Queue,
    /// The start time.
    ScheduledAt,
    /// The labels.
    Tags,
    /// The number of attempts.
    MaxAttempts,
    /// The type.
    Type,
}

impl Field {
    /// Every field.
    pub const ALL: [Field; 8] = [
        Field::Args,
        Field::Meta,
        Field::Priority,
        Field::Queue,
        Field::ScheduledAt,
        Field::Tags,
        Field::MaxAttempts,
        Field::Type,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Args => "args",
            Field::Meta => "meta",
            Field::Priority => "priority",
            Field::Queue => "queue",
            Field::ScheduledAt => "scheduled_at",
            Field::Tags => "tags",
            Field::MaxAttempts => "max_attempts",
            Field::Type => "type",
        }
    }
}

/// A set of fields in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldSet(u8);

impl FieldSet {
    /// The set with one more field.
    #[must_use]
    pub const fn with(self, field: Field) -> FieldSet {
        FieldSet(self.0 | 1 << field as u8)
    }

    /// Whether the set names the field.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// Whether the set names no field.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fields of the set.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |f| self.contains(*f))
    }
}

impl FromIterator<Field> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        fields.into_iter().fold(FieldSet::default(), FieldSet::with)
    }
}

/// The fields that a duplicate overwrites, by the state of the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replacement([FieldSet; 8]);

impl Replacement {
    /// The same fields in every state.
    pub const fn everywhere(fields: FieldSet) -> Replacement {
        Replacement([fields; 8])
    }

    /// With these fields in this state.
    #[must_use]
    pub const fn with(mut self, state: State, fields: FieldSet) -> Replacement {
        self.0[state as usize] = fields;
        self
    }

    /// The fields that are overwritten in this state.
    pub const fn fields(&self, state: State) -> FieldSet {
        self.0[state as usize]
    }
}

/// A policy that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No state would ever make a duplicate.
    #[error("states must name at least one state")]
    NoStates,
    /// All of `args` would be left out of the key that names them.
    #[error(
        "args_keys must name at least one member while keys names args; leave it out to take all of args"
    )]
    NoArgsKeys,
    /// `meta` never counts as a whole.
    #[error("meta_keys must name at least one member while keys names meta")]
    NoMetaKeys,
    /// A window without length never makes a duplicate.
    #[error("period must be longer than zero")]
    NoPeriod,
    /// An empty own key is a mistake.
    #[error("key must not be empty")]
    EmptyKey,
}

impl Default for UniquePolicy {
    /// By type alone, against every job that has not ended, rejecting (Unique Jobs 2.1).
    fn default() -> Self {
        UniquePolicy {
            dimensions: Dimensions::default(),
            args_keys: None,
            meta_keys: None,
            key: None,
            period: None,
            period_from: Anchor::CreatedAt,
            states: StateSet::INCOMPLETE,
            on_conflict: Strategy::Reject,
            replace: None,
        }
    }
}

/// What a policy needs to know of a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Where it is.
    pub state: State,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it was to start.
    pub scheduled_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl From<&Job> for Holder {
    fn from(job: &Job) -> Holder {
        Holder {
            state: job.state(),
            created_at: job.created_at,
            scheduled_at: job.spec.scheduled_at.as_ref().map(|given| given.at),
            finished_at: job.phase.finished_at(),
        }
    }
}

impl UniquePolicy {
    /// Checks what the parts mean together.
    pub fn validate(&self) -> Result<(), PolicyError> {
        let empty = |names: &Option<Vec<Box<str>>>| names.as_ref().is_some_and(Vec::is_empty);
        if self.states.is_empty() {
            return Err(PolicyError::NoStates);
        }
        if self.period.is_some_and(|period| period.is_zero()) {
            return Err(PolicyError::NoPeriod);
        }
        if self.key.as_ref().is_some_and(|key| key.is_empty()) {
            return Err(PolicyError::EmptyKey);
        }
        if self.dimensions.args && empty(&self.args_keys) {
            return Err(PolicyError::NoArgsKeys);
        }
        if self.dimensions.meta && self.meta_keys.as_ref().is_none_or(Vec::is_empty) {
            return Err(PolicyError::NoMetaKeys);
        }
        Ok(())
    }

    /// Whether a holder with an equal key makes the incoming job a duplicate.
    pub fn covers(&self, holder: Holder, now: Timestamp) -> bool {
        self.states.contains(holder.state) && self.window_end(holder).is_none_or(|end| end > now)
    }

    /// When the holder stops to count; never if nothing is returned.
    pub fn window_end(&self, holder: Holder) -> Option<Timestamp> {
        let period = self.period?;
        let from = match self.period_from {
            Anchor::CreatedAt => holder.created_at,
            Anchor::ScheduledAt => holder.scheduled_at.unwrap_or(holder.created_at),
            Anchor::FinishedAt => holder.finished_at?,
        };
        Some(from + period)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
