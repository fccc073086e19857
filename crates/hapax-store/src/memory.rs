//! The reference store: maps that a reader can believe. Other engines are held to its answers, and it is
//! what `--store memory` serves.

mod claim;
mod commit;
pub(crate) mod contents;
mod keys;
pub(crate) mod memos;
mod reads;

use std::future::ready;
use std::sync::{Mutex, MutexGuard};

use hapax_core::{Chance, Job, JobId, QueueName, Rules, Timestamp};

use self::contents::Contents;
use crate::{
    Advance, Answer, Change, Claim, DeadLetterQuery, HeldPage, HeldQuery, HolderQuery, Holders, Op, Page,
    QueueFacts, QueueQuery, Reply, Store, StoreError, Totals,
};

/// A store that forgets everything with its process.
#[derive(Debug)]
pub struct MemoryStore {
    /// Nothing once the store is closed.
    contents: Mutex<Option<Contents>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(rules: Rules) -> MemoryStore {
        MemoryStore { contents: Mutex::new(Some(Contents::new(rules))) }
    }

    #[expect(
        clippy::expect_used,
        reason = "half a change may be behind the panic; nothing may be served from it"
    )]
    fn lock(&self) -> MutexGuard<'_, Option<Contents>> {
        self.contents.lock().expect("no operation on the store panicked")
    }

    /// Does it at once: the future that carries the answer never waits.
    fn answer<T: Send + 'static>(&self, work: impl FnOnce(&mut Contents) -> T) -> Reply<T> {
        Box::pin(ready(self.lock().as_mut().map(work).ok_or(StoreError::Closed)))
    }
}

impl Store for MemoryStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.answer(|contents| ops.into_iter().map(|op| contents.apply(op)).collect())
    }

    fn claim(&self, claim: Claim) -> Reply<Vec<Change>> {
        self.answer(|contents| contents.claim(&claim))
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.answer(|contents| contents.advance(now, limit, chance))
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        self.answer(|contents| contents.get(id).cloned())
    }

    fn holders(&self, query: HolderQuery) -> Reply<Holders> {
        self.answer(|contents| contents.look_up(&query))
    }

    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage> {
        self.answer(|contents| contents.held_keys(&query))
    }

    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>> {
        self.answer(|contents| contents.dead_letters(&query))
    }

    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>> {
        self.answer(|contents| contents.queues(&query))
    }

    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>> {
        self.answer(|contents| contents.queue(&name))
    }

    fn totals(&self) -> Reply<Totals> {
        self.answer(|contents| contents.totals())
    }

    fn reset(&self) -> Reply<()> {
        self.answer(Contents::clear)
    }

    fn close(&self) -> Reply<()> {
        Box::pin(ready(self.lock().take().map(drop).ok_or(StoreError::Closed)))
    }
}
