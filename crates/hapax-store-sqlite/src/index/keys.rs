//! Keys: who carries one, newest first, with all that a policy asks of a holder, so that only those that
//! matter are ever loaded.

mod holders;
mod mark;
mod orders;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hapax_core::unique::{Anchor, Holder, Key, Watch};
use hapax_core::{State, StateSet, Timestamp};

use self::holders::Holders;
use self::mark::Mark;
use super::Facts;

pub(crate) use self::mark::Place;

/// Holders by key. Only the first 64 bits of a key are kept: a holder found here has to prove the rest.
///
/// Those that live are together, for they go from state to state. Those that have ended are apart by state: most
/// policies do not ask for them, and one that asks for the discarded ones only must not walk through thousands of
/// completed ones to find that there are none.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Keys([Side; 4]);

/// With the standard hasher: whoever can try many keys must not choose where they collide.
#[derive(Debug, Default, PartialEq)]
struct Side(HashMap<u64, Holders>);

/// A holder: its place among the others, and its state.
pub(super) type Seen = (Place, State);

impl Keys {
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        let (old, new) = (before.and_then(entry), after.and_then(entry));
        if old == new {
            return;
        }
        if let Some((prefix, place, was)) = old {
            // The usual case: a job goes from one live state to the next, and only its mark changes.
            let stays = |(at, same, mark): (u64, Place, Mark)| {
                (at, same, side(mark.state())) == (prefix, place, side(was.state()))
            };
            if !new.is_some_and(stays) {
                self.0[side(was.state())].remove(prefix, place);
            }
        }
        if let Some((prefix, place, mark)) = new {
            self.0[side(mark.state())].insert(prefix, place, mark);
        }
    }

    /// The live holders that the watch covers, as far as a decision depends on them.
    pub(super) fn live(&self, key: &Key, watch: Watch, now: Timestamp) -> impl Iterator<Item = Seen> {
        self.live_by(key, watch, move |holder| watch.covers(holder, now))
    }

    /// Every live holder that `covers` says yes to; it is asked about few others.
    fn live_by(
        &self,
        key: &Key,
        watch: Watch,
        covers: impl FnMut(Holder) -> bool,
    ) -> impl Iterator<Item = Seen> {
        let live = self.asked(LIVE, prefix(key), watch.states);
        let covered = live.map(|holders| holders.live(watch, covers));
        covered.into_iter().flatten().map(seen)
    }

    /// The newest holder that has ended and that the watch covers, among those before a place.
    pub(super) fn newest_ended(
        &self,
        key: &Key,
        watch: Watch,
        now: Timestamp,
        before: Option<Place>,
    ) -> Option<Seen> {
        let states = StateSet::from_bits(watch.states.bits() & ENDED.bits());
        let ended = Watch { states, ..watch };
        self.newest_by(key, ended, before, |holder| ended.covers(holder, now))
    }

    /// The newest holder in one of these states, among those before a place.
    pub(super) fn newest_in(&self, key: &Key, states: StateSet, before: Option<Place>) -> Option<Seen> {
        let watch = Watch { states, period: None, period_from: Anchor::CreatedAt, every_live: true };
        self.newest_by(key, watch, before, |holder| states.contains(holder.state))
    }

    /// The newest holder that `covers` says yes to; it is asked about few of them.
    fn newest_by(
        &self,
        key: &Key,
        watch: Watch,
        before: Option<Place>,
        mut covers: impl FnMut(Holder) -> bool,
    ) -> Option<Seen> {
        let prefix = prefix(key);
        let asked = (0..SIDES.len()).filter_map(|side| self.asked(side, prefix, watch.states));
        let newest = asked.filter_map(|holders| holders.newest(windows(watch), before, &mut covers));
        newest.max_by_key(|(place, _)| *place).map(seen)
    }

    /// How many live and how many have ended. Every key with the same first 64 bits counts: to tell others apart,
    /// all rows would have to be read, and there is no other unless somebody searched for it.
    pub(super) fn count(&self, key: &Key) -> (u64, u64) {
        let [live, ended @ ..] = self.0.each_ref().map(|side| side.count(prefix(key)));
        (live, ended.iter().sum())
    }

    /// The holders on a side, if one of the states is there.
    fn asked(&self, side: usize, prefix: u64, states: StateSet) -> Option<&Holders> {
        let is_asked = SIDES[side].bits() & states.bits() != 0;
        if is_asked { self.0[side].0.get(&prefix) } else { None }
    }
}

/// What is together with what.
const SIDES: [StateSet; 4] = [
    StateSet::INCOMPLETE,
    StateSet::of(&[State::Completed]),
    StateSet::of(&[State::Cancelled]),
    StateSet::of(&[State::Discarded]),
];

/// The states whose holders are apart.
pub(super) const ENDED: StateSet = StateSet::INCOMPLETE.complement();

const LIVE: usize = 0;

/// Where the holders of that state are.
const fn side(state: State) -> usize {
    match state {
        State::Scheduled | State::Available | State::Pending | State::Active | State::Retryable => LIVE,
        State::Completed => 1,
        State::Cancelled => 2,
        State::Discarded => 3,
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

    fn count(&self, prefix: u64) -> u64 {
        self.0.get(&prefix).map_or(0, |holders| holders.len() as u64)
    }
}

/// By which of their moments holders stop to be covered, if they do.
fn windows(watch: Watch) -> Option<Anchor> {
    watch.period.map(|_| watch.period_from)
}

fn seen((place, mark): (Place, Mark)) -> Seen {
    (place, mark.state())
}

fn entry(facts: &Facts<'_>) -> Option<(u64, Place, Mark)> {
    let (key, holder): (_, Holder) = facts.held?;
    let place = Place { created_at: holder.created_at, id: facts.id };
    Some((prefix(key), place, Mark::of(holder)))
}

fn prefix(key: &Key) -> u64 {
    key.bytes().iter().take(8).fold(0, |prefix, byte| prefix << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
