//! How an incoming job is compared with holders, and what happens when it is a duplicate.

use std::fmt;
use std::time::Duration;

use super::{Anchor, Replacement, Watch};
use crate::{State, StateSet};

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
    /// How far a duplicate moves the start of a waiting holder, instead of `on_conflict`.
    pub debounce: Option<Debounce>,
    /// What becomes of a duplicate while a holder runs, if not what becomes of it otherwise.
    pub while_active: Option<WhileActive>,
}

/// How long a job waits for others like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Debounce {
    /// How long after the newest duplicate the job starts.
    pub wait: Duration,
    /// How far duplicates may move its start in all; without end if not given.
    pub max_wait: Option<Duration>,
}

/// What becomes of a duplicate while a holder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhileActive {
    /// One successor waits for the end of the running holder; the newest duplicate wins.
    QueueLatest,
}

impl WhileActive {
    /// Every choice.
    pub const ALL: [WhileActive; 1] = [WhileActive::QueueLatest];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            WhileActive::QueueLatest => "queue_latest",
        }
    }
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
    /// A job that does not wait cannot be overtaken by another.
    #[error("debounce.wait must be longer than zero")]
    NoWait,
    /// Duplicates could not move the start at all.
    #[error("debounce.max_wait must be longer than zero; leave it out for no limit")]
    NoMaxWait,
    /// Debouncing moves what waits for its start; without that state it would never find anything.
    #[error("debounce needs the state scheduled among states, since that is where a debounced job waits")]
    DebounceWithoutScheduled,
    /// Debouncing has no meaning for what has ended.
    #[error("debounce moves a job that waits; states must not name {0}")]
    DebounceEnded(State),
    /// Two answers to the same question.
    #[error("replace and debounce both say what a duplicate changes; send one of the two")]
    ReplaceAndDebounce,
    /// The same.
    #[error("replace and while_active both say what a duplicate changes; send one of the two")]
    ReplaceAndWhileActive,
    /// A successor that was to start long ago would not be found by the next duplicate.
    #[error("while_active does not go with period_from scheduled_at; count from created_at or finished_at")]
    WhileActiveFromSchedule,
    /// The successor must be found by the next duplicate, and the running holder by the first.
    #[error("while_active needs the state {0} among states")]
    WhileActiveWithout(State),
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
            debounce: None,
            while_active: None,
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
        self.validate_debounce()?;
        self.validate_while_active()
    }

    fn validate_debounce(&self) -> Result<(), PolicyError> {
        let Some(Debounce { wait, max_wait }) = self.debounce else { return Ok(()) };
        if self.replace.is_some() {
            return Err(PolicyError::ReplaceAndDebounce);
        }
        if wait.is_zero() {
            return Err(PolicyError::NoWait);
        }
        if max_wait.is_some_and(|max_wait| max_wait.is_zero()) {
            return Err(PolicyError::NoMaxWait);
        }
        if let Some(ended) = self.states.iter().find(|state| state.is_terminal()) {
            return Err(PolicyError::DebounceEnded(ended));
        }
        if !self.states.contains(State::Scheduled) {
            return Err(PolicyError::DebounceWithoutScheduled);
        }
        Ok(())
    }

    fn validate_while_active(&self) -> Result<(), PolicyError> {
        if self.while_active.is_none() {
            return Ok(());
        }
        if self.replace.is_some() {
            return Err(PolicyError::ReplaceAndWhileActive);
        }
        if self.period.is_some() && self.period_from == Anchor::ScheduledAt {
            return Err(PolicyError::WhileActiveFromSchedule);
        }
        let needed = [State::Active, State::Pending];
        match needed.into_iter().find(|state| !self.states.contains(*state)) {
            Some(missing) => Err(PolicyError::WhileActiveWithout(missing)),
            None => Ok(()),
        }
    }

    /// What is replaced is replaced as a whole, and a successor may stand anywhere among those that wait.
    const fn needs_every_live(&self) -> bool {
        let replaces = matches!(self.on_conflict, Strategy::Replace | Strategy::ReplaceExceptSchedule);
        (replaces && self.replace.is_none() && self.debounce.is_none()) || self.while_active.is_some()
    }

    /// Which holders count.
    pub const fn watch(&self) -> Watch {
        let UniquePolicy { states, period, period_from, .. } = self;
        Watch {
            states: *states,
            period: *period,
            period_from: *period_from,
            every_live: self.needs_every_live(),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
