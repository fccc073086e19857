//! A store whose disk stalls when it is told to: from then on it answers what is read and nothing that is written.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Rules, Timestamp};
use hapax_store::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Listener,
    MemoryStore, Op, Page, QueueFacts, QueueQuery, Reply, Store, Totals,
};

#[derive(Debug)]
pub(crate) struct StallingStore {
    memory: MemoryStore,
    has_stalled: AtomicBool,
    is_shared: bool,
}

impl StallingStore {
    pub(crate) fn new() -> StallingStore {
        let memory = MemoryStore::new(Rules::default());
        StallingStore { memory, has_stalled: AtomicBool::new(false), is_shared: false }
    }

    /// One that several servers use.
    pub(crate) fn shared() -> StallingStore {
        StallingStore { is_shared: true, ..StallingStore::new() }
    }

    pub(crate) fn stall(&self) {
        self.has_stalled.store(true, Ordering::Relaxed);
    }

    fn written<T: Send + 'static>(&self, write: impl FnOnce(&MemoryStore) -> Reply<T>) -> Reply<T> {
        if self.has_stalled.load(Ordering::Relaxed) { Box::pin(pending()) } else { write(&self.memory) }
    }
}

impl Store for StallingStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.written(|memory| memory.commit(ops))
    }

    fn claim(&self, claim: Claim) -> Reply<Claimed> {
        self.written(|memory| memory.claim(claim))
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.written(|memory| memory.advance(now, limit, chance))
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        self.memory.get(id)
    }

    fn holders(&self, query: HolderQuery) -> Reply<Holders> {
        self.memory.holders(query)
    }

    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage> {
        self.memory.held_keys(query)
    }

    fn jobs(&self, query: JobQuery) -> Reply<JobPage> {
        self.memory.jobs(query)
    }

    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>> {
        self.memory.dead_letters(query)
    }

    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>> {
        self.memory.queues(query)
    }

    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>> {
        self.memory.queue(name)
    }

    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>> {
        self.memory.entry(key)
    }

    fn entries(&self, query: EntryQuery) -> Reply<EntryPage> {
        self.memory.entries(query)
    }

    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>> {
        self.memory.limit(key)
    }

    fn limits(&self, query: LimitQuery) -> Reply<LimitPage> {
        self.memory.limits(query)
    }

    fn listen(&self, listener: Listener) {
        self.memory.listen(listener);
    }

    fn totals(&self) -> Reply<Totals> {
        self.memory.totals()
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn reset(&self) -> Reply<()> {
        self.written(|memory| memory.reset())
    }

    fn close(&self) -> Reply<()> {
        self.written(|memory| memory.close())
    }
}
