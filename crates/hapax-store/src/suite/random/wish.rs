//! How shapes of jobs want to be unique, over a small number of keys.

use std::time::Duration;

use hapax_core::unique::{Anchor, Debounce, JobKeyMode, Key, Replacement, Strategy};
use hapax_core::{State, StateSet};

use super::super::bench::job_key_of;
use super::super::draft::{Draft, job_key, unique};

/// A wish to exist once.
#[derive(Debug, Clone)]
pub(super) enum Wish {
    Policy(Policy),
    Name { number: u8, mode: JobKeyMode },
}

/// A unique policy.
#[derive(Debug, Clone)]
pub(super) struct Policy {
    pub(super) key: u8,
    pub(super) states: StateSet,
    pub(super) on_conflict: Strategy,
    pub(super) period: Option<(Duration, Anchor)>,
    pub(super) twist: Twist,
}

/// What decides about a duplicate besides the strategy.
#[derive(Debug, Clone, Copy)]
pub(super) enum Twist {
    Nothing,
    Overwrite(Replacement),
    Debounce(Debounce),
    QueueLatest(Option<Debounce>),
}

/// One of the few keys that shapes have.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyName {
    Policy(u8),
    Name(u8),
}

impl KeyName {
    /// All that shapes have, and one of each kind that none has.
    pub(super) fn all() -> impl Iterator<Item = KeyName> {
        (0..4).flat_map(|number| [KeyName::Policy(number), KeyName::Name(number)])
    }

    pub(super) fn key(self) -> Key {
        match self {
            KeyName::Policy(number) => Key::of_text(&policy_text(number)),
            KeyName::Name(number) => job_key_of(&name_text(number)),
        }
    }
}

fn policy_text(number: u8) -> String {
    format!("key-{number}")
}

fn name_text(number: u8) -> String {
    format!("name-{number}")
}

impl Wish {
    pub(super) fn draft(&self) -> Draft {
        match self {
            Wish::Policy(policy) => policy.draft(),
            Wish::Name { number, mode } => job_key(&name_text(*number)).mode(*mode),
        }
    }

    /// What the edge refuses together with the wish is left out.
    pub(super) fn corrected(&self, mut draft: Draft) -> Draft {
        let Wish::Policy(policy) = self else { return draft };
        let is_debounced = matches!(policy.twist, Twist::Debounce(_) | Twist::QueueLatest(Some(_)));
        if is_debounced {
            draft.spec.scheduled_at = None;
        }
        draft.pending &= matches!(policy.twist, Twist::Nothing | Twist::Overwrite(_));
        draft
    }
}

impl Policy {
    fn draft(&self) -> Draft {
        let Policy { key, states, on_conflict, period, twist } = self;
        let mut draft = unique(&policy_text(*key)).states(twist.states(*states)).on_conflict(*on_conflict);
        if let Some((period, from)) = period {
            draft = draft.period(*period, *from);
        }
        match *twist {
            Twist::Nothing => draft,
            Twist::Overwrite(replacement) => draft.replacing(replacement),
            Twist::Debounce(debounce) => draft.debounced(debounce.wait, debounce.max_wait),
            Twist::QueueLatest(None) => draft.queue_latest(),
            Twist::QueueLatest(Some(debounce)) => {
                draft.queue_latest().debounced(debounce.wait, debounce.max_wait)
            }
        }
    }
}

impl Twist {
    /// The states with those that the twist needs, and without those that make no sense with it.
    fn states(self, states: StateSet) -> StateSet {
        let living = || states.iter().filter(|state| !state.is_terminal()).collect::<StateSet>();
        match self {
            Twist::Nothing | Twist::Overwrite(_) => states,
            Twist::Debounce(_) => living().with(State::Scheduled),
            Twist::QueueLatest(None) => states.with(State::Active).with(State::Pending),
            Twist::QueueLatest(Some(_)) => {
                living().with(State::Scheduled).with(State::Active).with(State::Pending)
            }
        }
    }
}
