//! Keys: who holds one, which are held, and taking one away from its holders.

use std::collections::HashMap;

use hapax_core::unique::Key;
use hapax_core::{Event, Job, JobId, Refusal, StateSet, TenantId};
use hapax_store::{Action, Change, HeldPage, HeldQuery, HolderQuery, Holders};

use crate::{Broker, Error, answer};

/// Most jobs that give up a key in one request.
pub const RELEASED_MAX: usize = 10_000;

/// What became of the holders of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    /// Those that gave it up: those that live, then those that have ended, and of both the newest first.
    pub jobs: Vec<Job>,
    /// How many still carry it, because there were more than [`RELEASED_MAX`].
    pub remaining: u64,
}

impl Broker {
    /// The jobs that carry the key: the newest live and the newest ended ones, at most so many of each; of those, only the
    /// tenant's, if there is one.
    pub async fn holders(&self, key: Key, limit: usize, tenant: Option<&TenantId>) -> Result<Holders, Error> {
        let mut holders = self.shared.store.holders(HolderQuery { key, covered_by: None, limit }).await?;
        if let Some(tenant) = tenant {
            holders = only_of(holders, tenant);
        }
        if holders.live + holders.ended == 0 { Err(Refusal::KeyNotHeld.into()) } else { Ok(holders) }
    }

    /// A part of the list of held keys, oldest first.
    pub async fn held_keys(&self, query: HeldQuery) -> Result<HeldPage, Error> {
        Ok(self.shared.store.held_keys(query).await?)
    }

    /// Takes the key away from every job that carries it, or from the tenant's. The jobs go on, and so does who waits for
    /// their end.
    pub async fn release(
        &self,
        key: Key,
        reason: Option<Box<str>>,
        tenant: Option<&TenantId>,
    ) -> Result<Released, Error> {
        let event = Event::Release { reason }.only_of(tenant);
        let action = Action::StepHolders { key, states: StateSet::ALL, event, limit: RELEASED_MAX };
        let changes = answer::stepped_holders(self.commit_one(self.now(), action).await?)?;
        self.shared.observer.released(changes.len());
        let remaining = if changes.len() == RELEASED_MAX { self.count_holders(key).await? } else { 0 };
        Ok(Released { jobs: as_they_are(changes), remaining })
    }

    async fn count_holders(&self, key: Key) -> Result<u64, Error> {
        let holders = self.shared.store.holders(HolderQuery { key, covered_by: None, limit: 0 }).await?;
        Ok(holders.live + holders.ended)
    }
}

/// The tenant's. A key that jobs of others carry as well was given by name; how many more of them there are stays unsaid.
fn only_of(holders: Holders, tenant: &TenantId) -> Holders {
    let Holders { mut jobs, live, ended } = holders;
    let looked_at = jobs.len();
    jobs.retain(|job| tenant.owns(&job.spec.meta));
    if jobs.len() == looked_at {
        return Holders { jobs, live, ended };
    }
    let (mut live, mut ended) = (0, 0);
    for job in &jobs {
        if job.state().is_terminal() { ended += 1 } else { live += 1 }
    }
    Holders { jobs, live, ended }
}

/// The jobs after all the changes: one that gave up the key early may have been let go by a later one.
fn as_they_are(changes: Vec<Change>) -> Vec<Job> {
    let mut let_go: HashMap<JobId, Job> = HashMap::new();
    let mut jobs = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            Change::To { job, followers, before: _, said: _, workflow: _ } => {
                jobs.push(job);
                let_go.extend(followers.into_iter().map(|(_, job)| (job.id, job)));
            }
            Change::Removed { job, followers: _ } => jobs.push(job),
        }
    }
    jobs.into_iter().map(|job| let_go.remove(&job.id).unwrap_or(job)).collect()
}

#[cfg(test)]
mod tests;
