//! Lists of jobs: to be shown, or to have something done about all of them.

use hapax_core::{JobFilter, JobId};
use hapax_store::{JobPage, JobQuery, ListOrder};

use crate::{Broker, Error};

/// How often one request looks into the store at most: each look goes through a bounded number of jobs, and others get their
/// turn in between.
const LOOKS_MAX: usize = 10;
/// How many jobs one look finds at most that is to have something done about them.
const FOUND_PER_LOOK: usize = 1000;

/// Most jobs about which one request has something done.
pub const BULK_MAX: usize = 10_000;

/// Jobs that something shall be done about, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection<P> {
    /// The jobs.
    pub ids: Vec<JobId>,
    /// Behind which place others may follow: the request has looked at as many as it may.
    pub next: Option<P>,
}

impl Broker {
    /// A part of a list of jobs. It may be short, even empty, and others follow.
    pub async fn jobs(&self, query: JobQuery) -> Result<JobPage, Error> {
        let (mut found, mut after) = (Vec::new(), query.after);
        for _ in 0..LOOKS_MAX {
            let limit = query.limit.saturating_sub(found.len());
            let look = JobQuery { after, limit, filter: query.filter.clone(), order: query.order };
            let JobPage { jobs, next } = self.shared.store.jobs(look).await?;
            found.extend(jobs);
            after = next;
            if after.is_none() || found.len() >= query.limit {
                break;
            }
        }
        Ok(JobPage { jobs: found, next: after })
    }

    /// Which jobs fit, the oldest first, up to [`BULK_MAX`].
    pub async fn select_jobs(
        &self,
        filter: &JobFilter,
        after: Option<JobId>,
    ) -> Result<Selection<JobId>, Error> {
        let mut selection = Selection { ids: Vec::new(), next: after };
        for _ in 0..LOOKS_MAX {
            let limit = FOUND_PER_LOOK.min(BULK_MAX - selection.ids.len());
            let (filter, after) = (filter.clone(), selection.next);
            let look = JobQuery { filter, order: ListOrder::OldestFirst, after, limit };
            let JobPage { jobs, next } = self.shared.store.jobs(look).await?;
            selection.ids.extend(jobs.iter().map(|job| job.id));
            selection.next = next;
            if next.is_none() || selection.ids.len() >= BULK_MAX {
                break;
            }
        }
        Ok(selection)
    }
}

#[cfg(test)]
mod tests;
