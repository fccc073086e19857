//! Explain: what an enqueue would do, and why. Only reads, so it neither waits for those that write nor holds them up.

use hapax_core::unique::{Explanation, Key, Uniqueness, explain};
use hapax_core::{Incoming, Refusal, Timestamp};
use hapax_store::{HolderQuery, Holders};

use crate::{Broker, Draft, Error};

/// Most live and most ended jobs with the key that are looked at besides those on which the decision depends.
pub const EXPLAINED_MAX: usize = 100;

/// What would become of a job, and what that was worked out from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The moment for which it holds.
    pub at: Timestamp,
    /// How the job is recognised.
    pub uniqueness: Option<Uniqueness>,
    /// Its key.
    pub key: Option<Key>,
    /// What the rules say to the jobs that carry the key, and what would come of it.
    pub explanation: Explanation,
    /// How many jobs carry the key and have not ended.
    pub live: u64,
    /// How many carry it and have ended.
    pub ended: u64,
}

impl Broker {
    /// What enqueueing the job would do.
    pub async fn explain(&self, draft: Draft) -> Result<Explained, Error> {
        let now = self.now();
        let taken = match draft.id {
            Some(id) => self.shared.store.get(id).await?,
            None => None,
        };
        let incoming = self.incoming(draft, None, now);
        let (key, uniqueness) = (incoming.key, incoming.spec.unique.clone());
        let Holders { jobs, live, ended } = self.holders_of(&incoming, now).await?;
        let mut explanation = explain(incoming, jobs, now, &self.shared.rules);
        if let Some(other) = taken {
            explanation.admission = Err(Refusal::IdTaken { id: other.id, state: other.state() });
        }
        Ok(Explained { at: now, uniqueness, key, explanation, live, ended })
    }

    async fn holders_of(&self, incoming: &Incoming, now: Timestamp) -> Result<Holders, Error> {
        let (Some(key), Some(uniqueness)) = (incoming.key, &incoming.spec.unique) else {
            return Ok(Holders::default());
        };
        let covered_by = Some((uniqueness.watch(), now));
        Ok(self.shared.store.holders(HolderQuery { key, covered_by, limit: EXPLAINED_MAX }).await?)
    }
}

#[cfg(test)]
mod tests;
