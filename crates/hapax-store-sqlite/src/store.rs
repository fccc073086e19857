//! The contract, carried out by the threads.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};
use hapax_store::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Listener, Op,
    Page, QueueFacts, QueueQuery, Reply, Store, StoreError, Totals,
};
use tokio::sync::oneshot;

use crate::Fault;
use crate::index::Visible;
use crate::listening::Listening;
use crate::progress::Stopped;
use crate::read::View;
use crate::request::Request;
use crate::sight::Sight;

/// A store in one SQLite file.
pub struct SqliteStore {
    pub(crate) sight: Sight,
    pub(crate) listening: Arc<Listening>,
    /// Hears when the files are let go of; taken by the first call of `close`.
    pub(crate) closed: Mutex<Option<oneshot::Receiver<()>>>,
    pub(crate) writer: Option<JoinHandle<()>>,
}

impl SqliteStore {
    fn write<T: Send + 'static>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Reply<T> {
        let (caller, answer) = oneshot::channel();
        let (request, inbox) = (request(caller), Arc::clone(&self.sight.inbox));
        Box::pin(async move {
            inbox.send(request).await.map_err(|_| StoreError::Closed)?;
            // Only a failure throws a request away, and it may come after the commit.
            answer.await.map_err(|_| StoreError::Unknown(Arc::new(Stopped)))
        })
    }

    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut View<'_>, &RwLock<Visible>) -> Result<T, Fault> + Send + 'static,
    ) -> Reply<T> {
        let sight = self.sight.clone();
        Box::pin(async move { sight.read(work).await })
    }

    fn look<T: Send + 'static>(&self, work: impl FnOnce(&Visible) -> T + Send + 'static) -> Reply<T> {
        let sight = self.sight.clone();
        Box::pin(async move { sight.look(work).await })
    }
}

impl Store for SqliteStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.write(|caller| Request::Commit { ops, caller })
    }

    fn claim(&self, claim: Claim) -> Reply<Claimed> {
        self.write(|caller| Request::Claim { claim, caller })
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.write(|caller| Request::Advance { now, limit, chance, caller })
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        self.read(move |view, visible| view.job(visible, id))
    }

    fn holders(&self, query: HolderQuery) -> Reply<Holders> {
        let sight = self.sight.clone();
        Box::pin(async move { sight.holders(query).await })
    }

    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage> {
        let sight = self.sight.clone();
        Box::pin(async move { sight.held_keys(query).await })
    }

    fn jobs(&self, query: JobQuery) -> Reply<JobPage> {
        let sight = self.sight.clone();
        Box::pin(async move { sight.jobs(query).await })
    }

    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>> {
        self.read(move |view, visible| view.dead_letters(visible, &query))
    }

    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>> {
        self.look(move |visible| visible.queues(&query))
    }

    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>> {
        self.look(move |visible| visible.queue_facts(&name))
    }

    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>> {
        self.read(move |view, _| view.entry(&key))
    }

    fn entries(&self, query: EntryQuery) -> Reply<EntryPage> {
        self.read(move |view, _| view.entries(&query))
    }

    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>> {
        self.read(move |view, visible| view.limit(visible, key))
    }

    fn limits(&self, query: LimitQuery) -> Reply<LimitPage> {
        self.read(move |view, visible| view.limits(visible, &query))
    }

    fn listen(&self, listener: Listener) {
        self.listening.set(listener);
    }

    fn totals(&self) -> Reply<Totals> {
        self.look(Visible::totals)
    }

    fn reset(&self) -> Reply<()> {
        self.write(|caller| Request::Reset { caller })
    }

    fn close(&self) -> Reply<()> {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.sight.inbox.close();
        Box::pin(async move {
            let closed = closed.ok_or(StoreError::Closed)?;
            closed.await.map_err(|_| StoreError::Unknown(Arc::new(Stopped)))
        })
    }
}

impl Drop for SqliteStore {
    /// Closes, if nobody did.
    fn drop(&mut self) {
        self.sight.inbox.close();
        if let Some(writer) = self.writer.take() {
            // A panic there has stopped the engine already.
            drop(writer.join());
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("progress", &self.sight.progress).finish_non_exhaustive()
    }
}
