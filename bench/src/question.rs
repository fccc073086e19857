//! Questions beside the table: each is asked on servers of its own, and has one answer.

use serde::Serialize;

use crate::churn::{self, Churn};
use crate::holders;
use crate::limits::{self, Limits};
use crate::listeners::{self, Listeners};
use crate::ordering::{self, Ordered};
use crate::scheduled::{self, Scheduled};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Keys with many and with few finished holders.
    Holders,
    /// Many jobs that are due at one moment.
    Scheduled,
    /// Many rate limits.
    Limits,
    /// Few and many ordering keys.
    Ordering,
    /// Many listeners.
    Listeners,
    /// What jobs leave behind in a database.
    Churn,
}

impl Question {
    pub(crate) const ALL: [Self; 6] =
        [Self::Holders, Self::Scheduled, Self::Limits, Self::Ordering, Self::Listeners, Self::Churn];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Holders => holders::NAME,
            Self::Scheduled => scheduled::NAME,
            Self::Limits => limits::NAME,
            Self::Ordering => ordering::NAME,
            Self::Listeners => listeners::NAME,
            Self::Churn => churn::NAME,
        }
    }
}

/// What was found out; nothing of what was not asked.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Findings {
    /// A decision about a key with many finished holders : with two, for the worst policy.
    pub(crate) holder_cost: Option<f64>,
    pub(crate) scheduled: Option<Scheduled>,
    pub(crate) limits: Option<Limits>,
    pub(crate) ordering: Vec<Ordered>,
    pub(crate) listeners: Option<Listeners>,
    pub(crate) churn: Option<Churn>,
}

impl Findings {
    /// The rate with most keys : that with one.
    pub(crate) fn ordering_gain(&self) -> Option<f64> {
        let (first, last) = (self.ordering.first()?, self.ordering.last()?);
        Some(last.jobs_per_second / first.jobs_per_second)
    }
}
