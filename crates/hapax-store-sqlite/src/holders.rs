//! The jobs that carry a key, as the writer needs them: to decide about another, or to step themselves.

use std::sync::Arc;

use hapax_core::unique::{Key, Watch};
use hapax_core::{Event, Job, Refusal, StateSet, Timestamp};
use hapax_store::Change;

use crate::Fault;
use crate::commit::Outcome;
use crate::index::{Counting, KnownHolder, Place};
use crate::row::Stored;
use crate::tables::Tables;

impl Tables<'_> {
    /// The jobs that carry the key, as far as they matter: all live ones that the watch covers, and the newest of
    /// the ended ones that it covers. `resolve` and `record_reentry` look at no others.
    pub(crate) fn holders(&mut self, key: &Key, watch: Watch, now: Timestamp) -> Result<Vec<Job>, Fault> {
        let counting = self.index.look().counting(key, watch, now);
        self.load_counting(counting, key, watch, now)
    }

    /// Those that the index says count, as far as they prove their key.
    pub(crate) fn load_counting(
        &mut self,
        counting: Counting,
        key: &Key,
        watch: Watch,
        now: Timestamp,
    ) -> Result<Vec<Job>, Fault> {
        let Counting { live, mut ended } = counting;
        let mut holders = Vec::with_capacity(live.len() + usize::from(ended.is_some()));
        let count = live.len();
        for holder in live {
            holders.extend(self.load_carrier(holder, key)?.map(|stored| stored.job.clone()));
        }
        if holders.len() < count && !watch.every_live {
            // Another key begins alike, and its holders may stand before ours.
            return self.holders(key, Watch { every_live: true, ..watch }, now);
        }
        while let Some(holder) = ended {
            if let Some(stored) = self.load_carrier(holder, key)? {
                holders.push(stored.job.clone());
                break;
            }
            ended = self.index.look().newest_ended(key, watch, now, Some(holder.place));
        }
        Ok(holders)
    }

    fn load_carrier(&mut self, holder: KnownHolder, key: &Key) -> Result<Option<Arc<Stored>>, Fault> {
        let stored = self.rows.load(holder.seq)?;
        Ok(Some(stored).filter(|stored| stored.job.key.as_ref() == Some(key)))
    }

    /// Lets something happen to the jobs that carry the key: to those that live, then to those that have ended.
    pub(crate) fn step_holders(
        &mut self,
        key: &Key,
        states: StateSet,
        event: &Event,
        limit: usize,
        now: Timestamp,
    ) -> Outcome<Vec<Change>> {
        let mut changes = Vec::new();
        for group in [StateSet::INCOMPLETE, StateSet::INCOMPLETE.complement()] {
            let states = states.iter().filter(|state| group.contains(*state)).collect();
            let mut before = None;
            while changes.len() < limit
                && let Some(holder) = self.newest_in(key, states, before)
            {
                before = Some(holder.place);
                let Some(stored) = self.load_carrier(holder, key)? else { continue };
                changes.extend(self.take_step(stored, event.clone(), now)?);
            }
        }
        Ok(if changes.is_empty() { Err(Refusal::KeyNotHeld) } else { Ok(changes) })
    }

    fn newest_in(&self, key: &Key, states: StateSet, before: Option<Place>) -> Option<KnownHolder> {
        self.index.look().newest_in(key, states, before)
    }
}

#[cfg(test)]
mod tests;
