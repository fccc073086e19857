//! Removing the job that has a job key.

use hapax_core::unique::{JobKey, Key};
use hapax_core::{Event, JobId, TenantId};
use hapax_store::{Action, Change};

use crate::{Broker, Error, answer};

/// Most jobs that lose a job key in one request. There is one, unless its name was given away while it ran.
const REMOVED_MAX: usize = 16;

/// What became of the jobs that had a job key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removal {
    /// Those that are gone.
    pub removed: Vec<JobId>,
    /// Those that run to their end without the key, and will not be tried again.
    pub released: Vec<JobId>,
}

impl Broker {
    /// Removes the jobs that have the job key of this key, unless they run; only the tenant's, if there is one.
    pub async fn remove_by_key(&self, key: Key, tenant: Option<&TenantId>) -> Result<Removal, Error> {
        let (states, event) = (JobKey::WATCH.states, Event::RemoveByKey.only_of(tenant));
        let action = Action::StepHolders { key, states, event, limit: REMOVED_MAX };
        let changes = answer::stepped_holders(self.commit_one(self.now(), action).await?)?;
        let mut removal = Removal::default();
        for change in changes {
            match change {
                Change::Removed { job, .. } => removal.removed.push(job.id),
                Change::To { job, .. } => removal.released.push(job.id),
            }
        }
        Ok(removal)
    }
}

#[cfg(test)]
mod tests;
