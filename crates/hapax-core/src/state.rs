//! The eight states of a job, bare of facts: for indexes, filters and the wire.

use std::fmt;
use std::str::FromStr;

/// Where a job stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Waits for its start time.
    Scheduled,
    /// Waits for a worker.
    Available,
    /// Waits for somebody to activate it.
    Pending,
    /// A worker holds its lease.
    Active,
    /// Waits for its next attempt after a failure.
    Retryable,
    /// Done. Final.
    Completed,
    /// Called off. Final.
    Cancelled,
    /// Given up. Final unless somebody revives it by name.
    Discarded,
}

impl State {
    /// Every state, in the order of a job's life.
    pub const ALL: [State; 8] = [
        State::Scheduled,
        State::Available,
        State::Pending,
        State::Active,
        State::Retryable,
        State::Completed,
        State::Cancelled,
        State::Discarded,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            State::Scheduled => "scheduled",
            State::Available => "available",
            State::Pending => "pending",
            State::Active => "active",
            State::Retryable => "retryable",
            State::Completed => "completed",
            State::Cancelled => "cancelled",
            State::Discarded => "discarded",
        }
    }

    /// Whether the job's life is over.
    pub const fn is_terminal(self) -> bool {
        matches!(self, State::Completed | State::Cancelled | State::Discarded)
    }

    /// Whether the job is alive and no worker holds it.
    pub const fn is_waiting(self) -> bool {
        matches!(self, State::Scheduled | State::Available | State::Pending | State::Retryable)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown state \"{0}\"; the states are {all}", all = StateSet::ALL)]
pub struct UnknownState(pub Box<str>);

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        State::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| UnknownState(text.into()))
    }
}

/// A set of states in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateSet(u8);

impl StateSet {
    /// No state.
    pub const NONE: StateSet = StateSet(0);
    /// All eight.
    pub const ALL: StateSet = StateSet(u8::MAX);
    /// The five states of a job whose life is not over: the default of a unique policy.
    pub const INCOMPLETE: StateSet =
        StateSet::of(&[State::Scheduled, State::Available, State::Pending, State::Active, State::Retryable]);
    /// The states of a job that lives and that no worker holds.
    pub const WAITING: StateSet =
        StateSet::of(&[State::Scheduled, State::Available, State::Pending, State::Retryable]);
    /// The states of a job whose life is over.
    pub const ENDED: StateSet = StateSet::INCOMPLETE.complement();
    /// All but cancelled and discarded.
    pub const SUCCESSFUL: StateSet = StateSet(StateSet::INCOMPLETE.0 | StateSet::of(&[State::Completed]).0);

    /// The set of the given states.
    pub const fn of(states: &[State]) -> StateSet {
        let mut bits = 0;
        let mut i = 0;
        while i < states.len() {
            bits |= 1 << states[i] as u8;
            i += 1;
        }
        StateSet(bits)
    }

    /// The set with one more state.
    #[must_use]
    pub const fn with(self, state: State) -> StateSet {
        StateSet(self.0 | 1 << state as u8)
    }

    /// Whether the set names the state.
    pub const fn contains(self, state: State) -> bool {
        self.0 & (1 << state as u8) != 0
    }

    /// Whether the set names no state.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The states that the set does not name.
    #[must_use]
    pub const fn complement(self) -> StateSet {
        StateSet(!self.0)
    }

    /// The states of the set, in the order of a job's life.
    pub fn iter(self) -> impl Iterator<Item = State> {
        State::ALL.into_iter().filter(move |s| self.contains(*s))
    }

    /// The set as the byte that stores keep.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set of a byte from [`StateSet::bits`].
    pub const fn from_bits(bits: u8) -> StateSet {
        StateSet(bits)
    }
}

impl FromIterator<State> for StateSet {
    fn from_iter<I: IntoIterator<Item = State>>(states: I) -> Self {
        states.into_iter().fold(StateSet::NONE, StateSet::with)
    }
}

impl fmt::Display for StateSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, state) in self.iter().enumerate() {
            write!(f, "{}{state}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_found_by_its_name() {
        for state in State::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
        assert!("Available".parse::<State>().is_err());
    }

    #[test]
    fn the_groups_hold_what_their_names_say() {
        assert_eq!(StateSet::INCOMPLETE, State::ALL.into_iter().filter(|s| !s.is_terminal()).collect());
        assert_eq!(StateSet::WAITING, State::ALL.into_iter().filter(|s| s.is_waiting()).collect());
        assert_eq!(StateSet::ENDED, State::ALL.into_iter().filter(|s| s.is_terminal()).collect());
        assert!(StateSet::SUCCESSFUL.contains(State::Completed));
        assert!(!StateSet::SUCCESSFUL.contains(State::Cancelled));
        assert!(!StateSet::SUCCESSFUL.contains(State::Discarded));
        assert_eq!(StateSet::ALL.iter().count(), 8);
    }
}
