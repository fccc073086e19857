//! Bounded reads.

use std::ops::Bound;

use hapax_core::limit::LimitKey;
use hapax_core::{Job, QueueName, State};

use super::contents::Contents;
use super::ground::readable;
use crate::record::limit as record;
use crate::sharers::{LimitFacts, LimitPage, LimitQuery, Shared, merged};
use crate::{DeadLetterQuery, LETTER_BYTES_MAX, Page, QueueFacts, QueueQuery, Totals, bytes_of, limit};

impl Contents {
    pub(super) fn dead_letters(&self, query: &DeadLetterQuery) -> Page<Job> {
        let wanted = |job: &&Job| query.queue.as_ref().is_none_or(|queue| job.spec.queue == *queue);
        let all = || self.dead_letters.iter().rev().filter_map(|(_, id)| self.get(*id)).filter(wanted);
        let before_cursor = match query.after {
            Some(after) => self.dead_letters.range(..after),
            None => self.dead_letters.range(..),
        };
        let rest = before_cursor.rev().filter_map(|(_, id)| self.get(*id)).filter(wanted);
        let mut bytes = 0;
        let fits = |job: &&Job| {
            let has_room = bytes < LETTER_BYTES_MAX;
            bytes += bytes_of(job);
            has_room
        };
        let listed = rest.clone().skip(query.offset).take(query.limit).take_while(fits);
        let items: Vec<Job> = listed.cloned().collect();
        let has_more = rest.skip(query.offset).nth(items.len()).is_some();
        Page { items, total: all().count() as u64, has_more }
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

    /// A rate limit, if somebody has it or something is remembered of it.
    pub(super) fn limit(&self, key: LimitKey) -> Option<LimitFacts> {
        let shared = self.sharers.of(&key);
        let entry = self.entries.get(&limit::key(&key));
        if shared.is_none() && entry.is_none() {
            return None;
        }
        let newest = shared.and_then(Shared::newest).and_then(|seq| self.at(seq));
        Some(LimitFacts {
            active: match key.limited_queue() {
                Some(queue) => self.queues.get(&queue).map_or(0, |queue| queue.counts.of(State::Active)),
                None => shared.map_or(0, |shared| shared.active),
            },
            available: shared.map_or(0, |shared| shared.available),
            newest: newest.and_then(|job| job.spec.rate_limit.as_deref().cloned()),
            memory: entry.map(|written| readable(record::read(&written.body))).unwrap_or_default(),
            key,
        })
    }

    pub(super) fn limits(&self, query: &LimitQuery) -> LimitPage {
        let LimitQuery { after, limit } = query;
        let jobs = self.sharers.keys_after(after.as_ref()).cloned();
        let (keys, has_more) = merged(jobs, self.entries.limits_after(after.as_ref()), *limit);
        LimitPage { limits: keys.into_iter().filter_map(|key| self.limit(key)).collect(), has_more }
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}

fn page<T>(mut rest: impl Iterator<Item = T>, limit: usize, total: usize) -> Page<T> {
    let items = rest.by_ref().take(limit).collect();
    Page { items, total: total as u64, has_more: rest.next().is_some() }
}
