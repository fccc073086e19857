//! How many jobs of each tenant this server has seen, since it started.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hapax_core::{Job, State, TenantId, Timestamp};
use hapax_store::Page;

/// Most tenants that are counted; the jobs of further ones are not.
const TENANTS_MAX: usize = 10_000;

/// What happened to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Enqueued,
    Fetched,
    Acknowledged,
    Failed,
    Cancelled,
}

impl Deed {
    pub(crate) const ALL: [Deed; 5] =
        [Deed::Enqueued, Deed::Fetched, Deed::Acknowledged, Deed::Failed, Deed::Cancelled];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Deed::Enqueued => "enqueued",
            Deed::Fetched => "fetched",
            Deed::Acknowledged => "acknowledged",
            Deed::Failed => "failed",
            Deed::Cancelled => State::Cancelled.name(),
        }
    }
}

/// The counts of all tenants. Jobs that belong to nobody cost a look at their metadata.
#[derive(Debug, Default)]
pub(crate) struct Tenants(Mutex<HashMap<TenantId, Seen>>);

/// How often each thing happened, in the order of [`Deed::ALL`].
pub(crate) type Counts = [u64; Deed::ALL.len()];

/// What this server has seen of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) counts: Counts,
    /// When the oldest of its jobs was made that came by.
    pub(crate) since: Timestamp,
}

impl Tenants {
    /// Counts something that happened to a job.
    pub(crate) fn count(&self, job: &Job, deed: Deed) {
        let Some(tenant) = TenantId::of(&job.spec.meta) else { return };
        let mut tenants = self.tenants();
        if tenants.len() >= TENANTS_MAX && !tenants.contains_key(&tenant) {
            return;
        }
        let unseen = Seen { counts: Counts::default(), since: job.created_at };
        let seen = tenants.entry(tenant).or_insert(unseen);
        seen.counts[deed as usize] += 1;
        seen.since = seen.since.min(job.created_at);
    }

    /// What was seen of a tenant, if anything was.
    pub(crate) fn of(&self, tenant: &TenantId) -> Option<Seen> {
        self.tenants().get(tenant).copied()
    }

    /// Those that come after one, or after so many, by name; at most so many.
    pub(crate) fn page(
        &self,
        after: Option<&TenantId>,
        skipped: usize,
        most: usize,
    ) -> Page<(TenantId, Seen)> {
        let mut all: Vec<_> = self.tenants().iter().map(|(tenant, seen)| (tenant.clone(), *seen)).collect();
        let total = all.len() as u64;
        all.retain(|(tenant, _)| after.is_none_or(|after| tenant > after));
        all.sort_by(|(one, _), (another, _)| one.cmp(another));
        let has_more = skipped.saturating_add(most) < all.len();
        Page { items: all.into_iter().skip(skipped).take(most).collect(), total, has_more }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, Seen>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
