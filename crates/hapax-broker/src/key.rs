//! Keys: who holds one, which are held, and taking one away from its holders.

use hapax_core::unique::Key;
use hapax_core::{Event, Job, Refusal};
use hapax_store::{Action, Change, HeldPage, HeldQuery, HolderQuery, Holders};

use crate::{Broker, Error, answer};

/// Most jobs that give up a key in one request.
pub const RELEASED_MAX: usize = 10_000;

/// What became of the holders of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    /// Those that gave it up, newest first.
    pub jobs: Vec<Job>,
    /// How many still carry it, because there were more than [`RELEASED_MAX`].
    pub remaining: u64,
}

impl Broker {
    /// The jobs that carry the key: the newest live and the newest ended ones, at most so many of each.
    pub async fn holders(&self, key: Key, limit: usize) -> Result<Holders, Error> {
        let holders = self.shared.store.holders(HolderQuery { key, covered_by: None, limit }).await?;
        if holders.live + holders.ended == 0 { Err(Refusal::KeyNotHeld.into()) } else { Ok(holders) }
    }

    /// A part of the list of held keys, oldest first.
    pub async fn held_keys(&self, query: HeldQuery) -> Result<HeldPage, Error> {
        Ok(self.shared.store.held_keys(query).await?)
    }

    /// Takes the key away from every job that carries it. The jobs go on, and so does who waits for their end.
    pub async fn release(&self, key: Key, reason: Option<Box<str>>) -> Result<Released, Error> {
        let action = Action::StepHolders { key, event: Event::Release { reason }, limit: RELEASED_MAX };
        let changes = answer::stepped_holders(self.commit_one(self.now(), action).await?)?;
        self.shared.observer.released(changes.len());
        let remaining = if changes.len() == RELEASED_MAX { self.count_holders(key).await? } else { 0 };
        let job = |change| match change {
            Change::To { job, .. } | Change::Removed { job } => job,
        };
        Ok(Released { jobs: changes.into_iter().map(job).collect(), remaining })
    }

    async fn count_holders(&self, key: Key) -> Result<u64, Error> {
        let holders = self.shared.store.holders(HolderQuery { key, covered_by: None, limit: 0 }).await?;
        Ok(holders.live + holders.ended)
    }
}

#[cfg(test)]
mod tests;
