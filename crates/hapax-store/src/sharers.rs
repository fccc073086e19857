//! Jobs that share rate limits, by the key of the limit: what readers of limits are told.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use hapax_core::limit::{LimitKey, Memory, RateLimit};
use hapax_core::{Job, State};

/// What is known of a rate limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitFacts {
    /// Its key.
    pub key: LimitKey,
    /// How many of its jobs run.
    pub active: u64,
    /// How many of its jobs are available. A store may stop counting at [`WAITING_COUNTED_MAX`].
    pub available: u64,
    /// What its newest job that has not ended asks for.
    pub newest: Option<RateLimit>,
    /// What is remembered of it.
    pub memory: Memory,
}

/// So many jobs that wait behind one limit are counted at least.
pub const WAITING_COUNTED_MAX: u64 = 10_000;

/// Which rate limits to list.
#[derive(Debug, Clone, Default)]
pub struct LimitQuery {
    /// Only those after this one.
    pub after: Option<LimitKey>,
    /// At most so many.
    pub limit: usize,
}

/// Rate limits by key: those that have jobs, and those of which something is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitPage {
    /// The limits.
    pub limits: Vec<LimitFacts>,
    /// Whether there are more after these.
    pub has_more: bool,
}

/// See above.
#[derive(Debug, PartialEq)]
pub struct Sharers<S>(BTreeMap<LimitKey, Shared<S>>);

/// The jobs of one limit that have not ended.
#[derive(Debug, PartialEq)]
pub struct Shared<S> {
    live: BTreeSet<S>,
    /// How many run.
    pub active: u64,
    /// How many are available.
    pub available: u64,
}

impl<S> Default for Sharers<S> {
    fn default() -> Sharers<S> {
        Sharers(BTreeMap::new())
    }
}

/// The rate limit of a job that has not ended.
pub fn shared_limit(job: &Job) -> Option<&LimitKey> {
    job.spec.rate_limit.as_deref().map(|limit| &limit.key).filter(|_| !job.state().is_terminal())
}

impl<S: Copy + Ord> Sharers<S> {
    /// A job changed, came or went. Those that have ended share nothing.
    pub fn replace(&mut self, before: Option<(&LimitKey, S, State)>, after: Option<(&LimitKey, S, State)>) {
        if before == after {
            return;
        }
        if let Some((key, number, state)) = before
            && let Some(shared) = self.0.get_mut(key)
        {
            shared.live.remove(&number);
            shared.active -= u64::from(state == State::Active);
            shared.available -= u64::from(state == State::Available);
            if shared.live.is_empty() {
                self.0.remove(key);
            }
        }
        if let Some((key, number, state)) = after {
            let shared = self.0.entry(key.clone()).or_default();
            shared.live.insert(number);
            shared.active += u64::from(state == State::Active);
            shared.available += u64::from(state == State::Available);
        }
    }

    /// Those of one limit.
    pub fn of(&self, key: &LimitKey) -> Option<&Shared<S>> {
        self.0.get(key)
    }

    /// Keys after that one.
    pub fn keys_after(&self, after: Option<&LimitKey>) -> impl Iterator<Item = &LimitKey> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range::<LimitKey, _>((from, Bound::Unbounded)).map(|(key, _)| key)
    }
}

impl<S> Default for Shared<S> {
    fn default() -> Shared<S> {
        Shared { live: BTreeSet::new(), active: 0, available: 0 }
    }
}

impl<S: Copy + Ord> Shared<S> {
    /// The job that came last.
    pub fn newest(&self) -> Option<S> {
        self.live.last().copied()
    }
}

/// The first of the keys of two lists, each in order.
pub fn merged(
    jobs: impl Iterator<Item = LimitKey>,
    entries: impl Iterator<Item = LimitKey>,
    limit: usize,
) -> (Vec<LimitKey>, bool) {
    let all: BTreeSet<LimitKey> = jobs.take(limit + 1).chain(entries.take(limit + 1)).collect();
    let has_more = all.len() > limit;
    (all.into_iter().take(limit).collect(), has_more)
}
