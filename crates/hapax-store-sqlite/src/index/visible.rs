//! The part of the indexes that readers share: ids, keys, dead letters, queues and their counts.

use std::collections::BTreeMap;
use std::ops::Bound;

use hapax_core::{JobId, QueueName, Timestamp};
use hapax_store::sharers::Sharers;
use hapax_store::{Counts, DeadLetterQuery, HeldQuery, Page, QueueFacts, QueueQuery, Totals};

use super::Facts;
use super::dead_letters::{DeadLetters, Listed};
use super::held::{Held, HeldPart};
use super::keys::Keys;
use crate::row::Seq;

/// Held under a lock for moments only.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Visible {
    /// In order, since lists run in the order of ids. Ids begin with the moment at which they were made, so that jobs that
    /// come and go one after the other are neighbours here.
    ids: BTreeMap<JobId, Seq>,
    keys: Keys,
    held: Held,
    dead_letters: DeadLetters,
    queues: BTreeMap<QueueName, Queue>,
    sharers: Sharers<Seq>,
    /// But for the keys that are held, which are counted where they are listed.
    totals: Totals,
}

/// A queue that was used at least once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Queue {
    pub(crate) paused: bool,
    pub(crate) created_at: Timestamp,
    pub(super) counts: Counts,
}

impl Queue {
    pub(crate) fn new(created_at: Timestamp) -> Queue {
        Queue { paused: false, created_at, counts: Counts::default() }
    }

    pub(crate) fn stored(paused: bool, created_at: Timestamp) -> Queue {
        Queue { paused, ..Queue::new(created_at) }
    }

    pub(crate) fn facts(&self, name: &QueueName) -> QueueFacts {
        let Queue { paused, created_at, counts } = *self;
        QueueFacts { name: name.clone(), paused, created_at, counts }
    }
}

impl Visible {
    /// Most changes move a job between states and leave the rest: only what differs is touched.
    pub(super) fn replace(&mut self, before: Option<&Facts<'_>>, after: Option<&Facts<'_>>) {
        match (before, after) {
            (Some(before), None) => drop(self.ids.remove(&before.id)),
            (None, Some(after)) => drop(self.ids.insert(after.id, after.seq)),
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.keys.replace(before, after);
        self.held.replace(before, after);
        self.sharers.replace(before.and_then(Facts::sharer), after.and_then(Facts::sharer));
        if let Some(facts) = before {
            self.uncount(facts);
        }
        if let Some(facts) = after {
            self.count(facts);
        }
    }

    fn count(&mut self, facts: &Facts<'_>) {
        self.dead_letters.insert(facts);
        if let Some(queue) = self.queues.get_mut(facts.queue) {
            queue.counts.add(facts.state);
        }
        self.totals.counts.add(facts.state);
        self.totals.dead_letters += u64::from(facts.dead_since.is_some());
    }

    fn uncount(&mut self, facts: &Facts<'_>) {
        self.dead_letters.remove(facts);
        if let Some(queue) = self.queues.get_mut(facts.queue) {
            queue.counts.remove(facts.state);
        }
        self.totals.counts.remove(facts.state);
        self.totals.dead_letters -= u64::from(facts.dead_since.is_some());
    }

    pub(crate) fn seq_of(&self, id: JobId) -> Option<Seq> {
        // New jobs ask whether their id is taken, and it is newer than all others.
        if self.ids.last_key_value().is_none_or(|(newest, _)| *newest < id) {
            return None;
        }
        self.ids.get(&id).copied()
    }

    pub(crate) fn sharers(&self) -> &Sharers<Seq> {
        &self.sharers
    }

    pub(super) fn ids(&self) -> &BTreeMap<JobId, Seq> {
        &self.ids
    }

    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    pub(crate) fn held(&self, query: &HeldQuery) -> HeldPart {
        self.held.part(query)
    }

    pub(super) fn queue(&self, name: &QueueName) -> Option<&Queue> {
        self.queues.get(name)
    }

    pub(super) fn put_queue(&mut self, name: QueueName, queue: Queue) {
        self.queues.insert(name, queue);
    }

    pub(super) fn forget_queue(&mut self, name: &QueueName) {
        self.queues.remove(name);
    }

    pub(super) fn set_paused(&mut self, name: &QueueName, paused: bool, now: Timestamp) -> QueueFacts {
        let queue = self.queues.entry(name.clone()).or_insert_with(|| Queue::new(now));
        queue.paused = paused;
        queue.facts(name)
    }

    pub(crate) fn queue_facts(&self, name: &QueueName) -> Option<QueueFacts> {
        self.queues.get(name).map(|queue| queue.facts(name))
    }

    pub(crate) fn queues(&self, query: &QueueQuery) -> Page<QueueFacts> {
        let QueueQuery { after, offset, limit } = query;
        let from = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.queues.range::<QueueName, _>((from, Bound::Unbounded)).skip(*offset);
        let items = rest.by_ref().take(*limit).map(|(name, queue)| queue.facts(name)).collect();
        Page { items, total: self.queues.len() as u64, has_more: rest.next().is_some() }
    }

    pub(crate) fn dead_letters(&self, query: &DeadLetterQuery) -> Listed {
        self.dead_letters.list(query)
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals { keys_held: self.held.len() as u64, ..self.totals }
    }
}
