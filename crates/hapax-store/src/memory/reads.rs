//! Bounded reads.

use std::ops::Bound;

use hapax_core::{Job, QueueName};

use super::contents::Contents;
use crate::{DeadLetterQuery, Page, QueueFacts, QueueQuery, Totals};

impl Contents {
    pub(super) fn dead_letters(&self, query: &DeadLetterQuery) -> Page<Job> {
        let wanted = |job: &&Job| query.queue.as_ref().is_none_or(|queue| job.spec.queue == *queue);
        let all = || self.dead_letters.iter().rev().filter_map(|(_, id)| self.get(*id)).filter(wanted);
        let before_cursor = match query.after {
            Some(after) => self.dead_letters.range(..after),
            None => self.dead_letters.range(..),
        };
        let rest = before_cursor.rev().filter_map(|(_, id)| self.get(*id)).filter(wanted).cloned();
        page(rest.skip(query.offset), query.limit, all().count())
    }

    pub(super) fn queues(&self, query: &QueueQuery) -> Page<QueueFacts> {
        let from = query.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.queues.range::<QueueName, _>((from, Bound::Unbounded));
        let facts = rest.skip(query.offset).map(|(name, queue)| queue.facts(name));
        page(facts, query.limit, self.queues.len())
    }

    pub(super) fn queue(&self, name: &QueueName) -> Option<QueueFacts> {
        self.queues.get(name).map(|queue| queue.facts(name))
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}

fn page<T>(mut rest: impl Iterator<Item = T>, limit: usize, total: usize) -> Page<T> {
    let items = rest.by_ref().take(limit).collect();
    Page { items, total: total as u64, has_more: rest.next().is_some() }
}
