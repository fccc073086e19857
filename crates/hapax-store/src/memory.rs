//! The reference store: maps that a reader can believe. Other engines are held to its answers, and it is
//! what `--store memory` serves.

mod claim;
mod commit;
pub(crate) mod contents;
mod entries;
mod ground;
mod jobs;
mod keys;
pub(crate) mod memos;
mod reads;

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Rules, Timestamp};

use self::contents::Contents;
use crate::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, Happened,
    HeldPage, HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery,
    Listener, NoOutbox, Op, Outbox, Page, QueueFacts, QueueQuery, Reply, Store, StoreError, Totals,
};

/// A store that forgets everything with its process.
pub struct MemoryStore {
    /// Nothing once the store is closed.
    contents: Mutex<Option<Contents>>,
    listener: Mutex<Option<Listener>>,
    outbox: Arc<dyn Outbox>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(rules: Rules) -> MemoryStore {
        MemoryStore::with_outbox(rules, Arc::new(NoOutbox))
    }

    /// An empty store that keeps what others are to be told.
    pub fn with_outbox(rules: Rules, outbox: Arc<dyn Outbox>) -> MemoryStore {
        MemoryStore { contents: Mutex::new(Some(Contents::new(rules))), listener: Mutex::new(None), outbox }
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
        let mut contents = self.lock();
        let answer = contents.as_mut().map(work).ok_or(StoreError::Closed);
        let calls = contents.as_mut().map(|contents| contents.lines.take_calls()).unwrap_or_default();
        drop(contents);
        self.call(calls);
        Box::pin(ready(answer))
    }

    /// Tells whoever listens of jobs for which there may be room.
    fn call(&self, calls: BTreeMap<QueueName, usize>) {
        if calls.is_empty() {
            return;
        }
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (queue, jobs) in calls {
            if let Some(listener) = &listener {
                listener(&queue, jobs);
            }
        }
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("contents", &self.contents).finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        let outbox = &*self.outbox;
        self.answer(|contents| {
            let carry_out = |op: Op| {
                let now = op.now;
                let answer = contents.apply(op);
                contents.keep_letters(outbox, Happened::Answered(&answer), now);
                answer
            };
            ops.into_iter().map(carry_out).collect()
        })
    }

    fn claim(&self, claim: Claim) -> Reply<Claimed> {
        let outbox = &*self.outbox;
        self.answer(|contents| {
            let claimed = contents.claim(&claim);
            contents.keep_letters(outbox, Happened::Claimed(&claimed.changes), claim.now);
            claimed
        })
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        let outbox = &*self.outbox;
        self.answer(|contents| {
            let advance = contents.advance(now, limit, chance);
            contents.keep_letters(outbox, Happened::Advanced(&advance), now);
            advance
        })
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

    fn jobs(&self, query: JobQuery) -> Reply<JobPage> {
        self.answer(|contents| contents.jobs(&query))
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

    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>> {
        self.answer(|contents| {
            let written = contents.entries.get(&key).cloned();
            written.map(|written| Entry { key, written })
        })
    }

    fn entries(&self, query: EntryQuery) -> Reply<EntryPage> {
        self.answer(|contents| contents.entries.page(&query))
    }

    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>> {
        self.answer(|contents| contents.limit(key))
    }

    fn limits(&self, query: LimitQuery) -> Reply<LimitPage> {
        self.answer(|contents| contents.limits(&query))
    }

    fn totals(&self) -> Reply<Totals> {
        self.answer(|contents| contents.totals())
    }

    fn listen(&self, listener: Listener) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    fn reset(&self) -> Reply<()> {
        self.answer(Contents::clear)
    }

    fn close(&self) -> Reply<()> {
        Box::pin(ready(self.lock().take().map(drop).ok_or(StoreError::Closed)))
    }
}
