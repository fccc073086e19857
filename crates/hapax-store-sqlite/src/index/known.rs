//! Holders as the writer and the readers ask for them: with the numbers by which they are loaded.

use std::collections::BTreeMap;

use hapax_core::unique::{Key, Watch};
use hapax_core::{State, StateSet, Timestamp};
use hapax_store::HolderQuery;

use super::keys::{ENDED, Place, Seen};
use super::visible::Visible;
use crate::row::Seq;

/// What is known of a holder without reading it. It still has to prove its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownHolder {
    pub(crate) seq: Seq,
    pub(crate) place: Place,
    pub(crate) state: State,
}

/// The holders on which a decision depends: the newest live one in each state that counts, or all of them if the watch says
/// so, and the newest that has ended and counts.
#[derive(Debug)]
pub(crate) struct Counting {
    pub(crate) live: Vec<KnownHolder>,
    pub(crate) ended: Option<KnownHolder>,
}

/// The holders that a reader asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// In the order of the tables, with the state in which each was.
    pub(crate) holders: BTreeMap<Seq, State>,
    /// How many have not ended.
    pub(crate) live: u64,
    /// How many have.
    pub(crate) ended: u64,
}

impl Visible {
    /// The holders that count to an incoming job, as far as the decision about it depends on them.
    pub(crate) fn counting(&self, key: &Key, watch: Watch, now: Timestamp) -> Counting {
        let live = self.keys().live(key, watch, now).filter_map(|seen| self.known(seen)).collect();
        Counting { live, ended: self.newest_ended(key, watch, now, None) }
    }

    /// The newest holder that has ended and counts, among those before a place.
    pub(crate) fn newest_ended(
        &self,
        key: &Key,
        watch: Watch,
        now: Timestamp,
        before: Option<Place>,
    ) -> Option<KnownHolder> {
        self.keys().newest_ended(key, watch, now, before).and_then(|seen| self.known(seen))
    }

    /// The newest holder in one of these states, among those before a place.
    pub(crate) fn newest_in(
        &self,
        key: &Key,
        states: StateSet,
        before: Option<Place>,
    ) -> Option<KnownHolder> {
        self.keys().newest_in(key, states, before).and_then(|seen| self.known(seen))
    }

    pub(crate) fn wanted(&self, query: &HolderQuery) -> Wanted {
        let HolderQuery { key, covered_by, limit } = query;
        let mut holders = BTreeMap::new();
        let mut add = |holder: KnownHolder| {
            holders.insert(holder.seq, holder.state);
        };
        if let Some((watch, now)) = covered_by {
            let Counting { live, ended } = self.counting(key, *watch, *now);
            live.into_iter().chain(ended).for_each(&mut add);
        }
        for states in [StateSet::INCOMPLETE, ENDED] {
            let older = |holder: &KnownHolder| self.newest_in(key, states, Some(holder.place));
            let newest = std::iter::successors(self.newest_in(key, states, None), older);
            newest.take(*limit).for_each(&mut add);
        }
        let (live, ended) = self.keys().count(key);
        Wanted { holders, live, ended }
    }

    fn known(&self, (place, state): Seen) -> Option<KnownHolder> {
        self.seq_of(place.id).map(|seq| KnownHolder { seq, place, state })
    }
}
