//! How many jobs of each tenant this server has seen, since it started.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hapax_core::{Job, State, TenantId};

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
pub(crate) struct Tenants(Mutex<HashMap<TenantId, Counts>>);

/// How often each thing happened, in the order of [`Deed::ALL`].
pub(crate) type Counts = [u64; Deed::ALL.len()];

impl Tenants {
    /// Counts something that happened to a job.
    pub(crate) fn count(&self, job: &Job, deed: Deed) {
        let Some(tenant) = TenantId::of(&job.spec.meta) else { return };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= TENANTS_MAX && !counts.contains_key(&tenant) {
            return;
        }
        counts.entry(tenant).or_default()[deed as usize] += 1;
    }

    /// What was counted for a tenant.
    pub(crate) fn of(&self, tenant: &TenantId) -> Counts {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.get(tenant).copied().unwrap_or_default()
    }
}
