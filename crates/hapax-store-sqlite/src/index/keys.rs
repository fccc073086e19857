//! Keys: who carries one, newest first, with all that a policy asks of a holder, so that only those that
//! matter are ever loaded.

use std::collections::BTreeMap;

use hapax_core::unique::{Anchor, Holder, Key, UniquePolicy};
use hapax_core::{State, Timestamp};

use super::Facts;
use crate::row::Seq;

/// Holders by key. Those that have ended are kept apart: there may be thousands, and most policies do not
/// ask for them. Only the first 64 bits of a key are kept; a holder found here has to prove the rest.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys {
    live: BTreeMap<Place, Mark>,
    ended: BTreeMap<Place, Mark>,
}

/// Sorted by key, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    prefix: u64,
    created_at: Timestamp,
    seq: Seq,
}

/// What else a policy asks of a holder, in two words: there is one of these for every key ever used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    scheduled_at: i64,
    /// The moment in milliseconds above, the state in the lowest three bits.
    finished_at_and_state: i64,
}

const STATE_BITS: u32 = 3;
/// A moment that no timestamp can be, and that can be shifted.
const NEVER: i64 = i64::MIN >> STATE_BITS;

/// A holder that a policy covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) seq: Seq,
    pub(crate) created_at: Timestamp,
}

impl Keys {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let (old, new) = (before.and_then(entry), after.and_then(entry));
        if old == new {
            return;
        }
        match (old, new) {
            // The usual case: a job goes from one state to the next, and stays where it is in the tree.
            (Some((place, was)), Some((same, mark))) if place == same && was.has_ended() == mark.has_ended() => {
                self.side(mark).insert(place, mark);
            }
            (old, new) => {
                if let Some((place, mark)) = old {
                    self.side(mark).remove(&place);
                }
                if let Some((place, mark)) = new {
                    self.side(mark).insert(place, mark);
                }
            }
        }
    }

    fn side(&mut self, mark: Mark) -> &mut BTreeMap<Place, Mark> {
        if mark.has_ended() { &mut self.ended } else { &mut self.live }
    }

    /// Every live holder that the policy covers, newest first.
    pub(crate) fn live(&self, key: &Key, policy: &UniquePolicy, now: Timestamp) -> Vec<Covered> {
        covered(&self.live, key, policy, now).collect()
    }

    /// The ended holders that the policy covers, newest first.
    pub(crate) fn ended<'k>(
        &'k self,
        key: &Key,
        policy: &'k UniquePolicy,
        now: Timestamp,
    ) -> impl Iterator<Item = Covered> + 'k {
        // Most policies name no state of the ended: not one step into the tree for them.
        let asked = policy.states.iter().any(State::is_terminal);
        asked.then(|| covered(&self.ended, key, policy, now)).into_iter().flatten()
    }
}

fn covered<'k>(
    holders: &'k BTreeMap<Place, Mark>,
    key: &Key,
    policy: &'k UniquePolicy,
    now: Timestamp,
) -> impl Iterator<Item = Covered> + 'k {
    let prefix = prefix(key);
    let first = Place { prefix, created_at: Timestamp::from_millis(i64::MIN), seq: Seq::MIN };
    let last = Place { prefix, created_at: Timestamp::MAX, seq: Seq::MAX };
    holders
        .range(first..=last)
        .rev()
        .map(|(place, mark)| (*place, mark.holder(place.created_at)))
        // Windows that run from creation end in the order of creation.
        .take_while(move |(_, holder)| {
            policy.period_from != Anchor::CreatedAt || policy.window_end(*holder).is_none_or(|end| end > now)
        })
        .filter(move |(_, holder)| policy.covers(*holder, now))
        .map(|(place, _)| Covered { seq: place.seq, created_at: place.created_at })
}

fn entry(facts: &Facts<'_>) -> Option<(Place, Mark)> {
    let (key, holder) = facts.held?;
    let place = Place { prefix: prefix(key), created_at: holder.created_at, seq: facts.seq };
    Some((place, Mark::of(holder)))
}

impl Mark {
    fn of(holder: Holder) -> Mark {
        let Holder { state, created_at: _, scheduled_at, finished_at } = holder;
        let millis = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::millis);
        Mark {
            scheduled_at: millis(scheduled_at),
            finished_at_and_state: millis(finished_at) << STATE_BITS | i64::from(state as u8),
        }
    }

    fn state(self) -> State {
        let number = self.finished_at_and_state.rem_euclid(1 << STATE_BITS);
        State::ALL.into_iter().find(|state| i64::from(*state as u8) == number).unwrap_or(State::Discarded)
    }

    fn has_ended(self) -> bool {
        self.state().is_terminal()
    }

    fn holder(self, created_at: Timestamp) -> Holder {
        let moment = |millis: i64| (millis != NEVER).then(|| Timestamp::from_millis(millis));
        Holder {
            state: self.state(),
            created_at,
            scheduled_at: moment(self.scheduled_at),
            finished_at: moment(self.finished_at_and_state >> STATE_BITS),
        }
    }
}

fn prefix(key: &Key) -> u64 {
    key.bytes().iter().take(8).fold(0, |prefix, byte| prefix << 8 | u64::from(*byte))
}
