//! Keys: who carries one, newest first, with all that a policy asks of a holder, so that only those that
//! matter are ever loaded.

mod holders;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hapax_core::unique::{Anchor, Holder, Key, UniquePolicy};
use hapax_core::{State, Timestamp};

use self::holders::{Holders, Mark, Place};
use super::Facts;
use crate::row::Seq;

/// Holders by key. Those that have ended are kept apart: there may be thousands, and most policies do not
/// ask for them. Only the first 64 bits of a key are kept; a holder found here has to prove the rest.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Keys {
    live: Side,
    ended: Side,
}

/// With the standard hasher: whoever can try many keys must not choose where they collide.
#[derive(Debug, Default, PartialEq)]
struct Side(HashMap<u64, Holders>);

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
        if let Some((prefix, place, was)) = old {
            // The usual case: a job goes from one live state to the next, and only its mark changes.
            let stays = |(at, same, mark): (u64, Place, Mark)| {
                (at, same, mark.has_ended()) == (prefix, place, was.has_ended())
            };
            if !new.is_some_and(stays) {
                self.side(was).remove(prefix, place);
            }
        }
        if let Some((prefix, place, mark)) = new {
            self.side(mark).insert(prefix, place, mark);
        }
    }

    fn side(&mut self, mark: Mark) -> &mut Side {
        if mark.has_ended() { &mut self.ended } else { &mut self.live }
    }

    /// Every live holder that the policy covers, newest first.
    pub(crate) fn live(&self, key: &Key, policy: &UniquePolicy, now: Timestamp) -> Vec<Covered> {
        self.live.covered(key, policy, now).collect()
    }

    /// The ended holders that the policy covers, newest first.
    pub(crate) fn ended<'k>(
        &'k self,
        key: &Key,
        policy: &'k UniquePolicy,
        now: Timestamp,
    ) -> impl Iterator<Item = Covered> + 'k {
        // Most policies name no state of the ended: not one look at them.
        let asked = policy.states.iter().any(State::is_terminal);
        asked.then(|| self.ended.covered(key, policy, now)).into_iter().flatten()
    }
}

impl Side {
    fn insert(&mut self, prefix: u64, place: Place, mark: Mark) {
        match self.0.entry(prefix) {
            Entry::Occupied(mut holders) => holders.get_mut().insert(place, mark),
            Entry::Vacant(vacant) => drop(vacant.insert(Holders::One(place, mark))),
        }
    }

    fn remove(&mut self, prefix: u64, place: Place) {
        if let Entry::Occupied(mut holders) = self.0.entry(prefix)
            && holders.get_mut().remove(place).is_empty()
        {
            holders.remove();
        }
    }

    fn covered<'k>(
        &'k self,
        key: &Key,
        policy: &'k UniquePolicy,
        now: Timestamp,
    ) -> impl Iterator<Item = Covered> + 'k {
        let holders = self.0.get(&prefix(key)).into_iter().flat_map(Holders::newest_first);
        holders
            .map(|(place, mark)| (place, mark.holder(place.created_at)))
            // Windows that run from creation end in the order of creation.
            .take_while(move |(_, holder)| {
                policy.period_from != Anchor::CreatedAt
                    || policy.window_end(*holder).is_none_or(|end| end > now)
            })
            .filter(move |(_, holder)| policy.covers(*holder, now))
            .map(|(Place { created_at, seq }, _)| Covered { seq, created_at })
    }
}

fn entry(facts: &Facts<'_>) -> Option<(u64, Place, Mark)> {
    let (key, holder): (_, Holder) = facts.held?;
    let place = Place { created_at: holder.created_at, seq: facts.seq };
    Some((prefix(key), place, Mark::of(holder)))
}

fn prefix(key: &Key) -> u64 {
    key.bytes().iter().take(8).fold(0, |prefix, byte| prefix << 8 | u64::from(*byte))
}
