//! The jobs that carry a key, as the writer needs them: to decide about another, or to step themselves.

use std::sync::Arc;

use hapax_core::unique::{Key, Watch};
use hapax_core::{Event, Job, Refusal, State, StateSet, Timestamp};
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
        for holder in live {
            holders.extend(self.load_carrier(holder, key)?.map(|stored| stored.job.clone()));
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

    /// Lets something happen to the jobs that carry the key, newest first.
    pub(crate) fn step_holders(
        &mut self,
        key: &Key,
        event: &Event,
        limit: usize,
        now: Timestamp,
    ) -> Outcome<Vec<Change>> {
        let mut changes = Vec::new();
        let (mut states, mut before) = (StateSet::ALL, None);
        while changes.len() < limit
            && let Some(holder) = self.newest_in(key, states, before)
        {
            before = Some(holder.place);
            let Some(stored) = self.load_carrier(holder, key)? else { continue };
            match self.take_step(stored, event.clone(), now)? {
                Ok(change) => changes.push(change),
                Err(_) if speaks_for_all(holder.state, event) => states = without(states, holder.state),
                Err(_) => {}
            }
        }
        Ok(if changes.is_empty() { Err(Refusal::KeyNotHeld) } else { Ok(changes) })
    }

    fn newest_in(&self, key: &Key, states: StateSet, before: Option<Place>) -> Option<KnownHolder> {
        self.index.look().newest_in(key, states, before)
    }
}

/// What cannot happen to one completed or cancelled job can happen to none: they are final, and only time treats
/// them differently. So one of ten thousand is read and not all of them.
fn speaks_for_all(state: State, event: &Event) -> bool {
    matches!(state, State::Completed | State::Cancelled) && !matches!(event, Event::TimePassed { .. })
}

fn without(states: StateSet, state: State) -> StateSet {
    states.iter().filter(|other| *other != state).collect()
}

#[cfg(test)]
mod tests;
