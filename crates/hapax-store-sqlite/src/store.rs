//! The contract, carried out by the threads.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};
use hapax_store::{
    Advance, Answer, Change, Claim, DeadLetterQuery, Op, Page, QueueFacts, QueueQuery, Reply, Store,
    StoreError, Totals,
};
use tokio::sync::oneshot;

use crate::Fault;
use crate::inbox::Inbox;
use crate::index::{self, Visible};
use crate::progress::{Progress, Stopped};
use crate::read::{Read, View};
use crate::request::Request;

/// A store in one SQLite file.
pub struct SqliteStore {
    pub(crate) inbox: Arc<Inbox<Request>>,
    pub(crate) reads: Arc<Inbox<Read>>,
    pub(crate) visible: Arc<RwLock<Visible>>,
    pub(crate) progress: Arc<Progress>,
    /// Hears when the files are let go of; taken by the first call of `close`.
    pub(crate) closed: Mutex<Option<oneshot::Receiver<()>>>,
    pub(crate) writer: Option<JoinHandle<()>>,
}

impl SqliteStore {
    fn write<T: Send + 'static>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Reply<T> {
        let (caller, answer) = oneshot::channel();
        let (request, inbox) = (request(caller), Arc::clone(&self.inbox));
        Box::pin(async move {
            inbox.send(request).await.map_err(|_| StoreError::Closed)?;
            // Only a failure throws a request away, and it may come after the commit.
            answer.await.map_err(|_| StoreError::Unknown(Arc::new(Stopped)))
        })
    }

    /// Shows only what no power cut can take back.
    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut View<'_>, &RwLock<Visible>) -> Result<T, Fault> + Send + 'static,
    ) -> Reply<T> {
        let (caller, answer) = oneshot::channel();
        let (reads, visible) = (Arc::clone(&self.reads), Arc::clone(&self.visible));
        let progress = Arc::clone(&self.progress);
        let seen_by = Arc::clone(&self.progress);
        let read: Read = Box::new(move |view| {
            let result = work(view, &visible);
            // After the look, so that it covers all that can have been seen.
            drop(caller.send((result, seen_by.seen())));
        });
        Box::pin(async move {
            reads.send(read).await.map_err(|_| StoreError::Closed)?;
            let (result, seen) = answer.await.map_err(|_| StoreError::Failed(Arc::new(Stopped)))?;
            progress.durable(seen).await?;
            result.map_err(|fault| StoreError::Failed(Arc::new(fault)))
        })
    }

    /// The same for what memory knows.
    fn look<T: Send + 'static>(&self, work: impl FnOnce(&Visible) -> T + Send + 'static) -> Reply<T> {
        let (inbox, visible) = (Arc::clone(&self.inbox), Arc::clone(&self.visible));
        let progress = Arc::clone(&self.progress);
        Box::pin(async move {
            if inbox.is_closed() {
                return Err(StoreError::Closed);
            }
            let found = work(&index::read(&visible));
            progress.durable(progress.seen()).await?;
            Ok(found)
        })
    }
}

impl Store for SqliteStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.write(|caller| Request::Commit { ops, caller })
    }

    fn claim(&self, claim: Claim) -> Reply<Vec<Change>> {
        self.write(|caller| Request::Claim { claim, caller })
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.write(|caller| Request::Advance { now, limit, chance, caller })
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        self.read(move |view, visible| view.job(visible, id))
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

    fn totals(&self) -> Reply<Totals> {
        self.look(Visible::totals)
    }

    fn reset(&self) -> Reply<()> {
        self.write(|caller| Request::Reset { caller })
    }

    fn close(&self) -> Reply<()> {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.inbox.close();
        Box::pin(async move {
            let closed = closed.ok_or(StoreError::Closed)?;
            closed.await.map_err(|_| StoreError::Unknown(Arc::new(Stopped)))
        })
    }
}

impl Drop for SqliteStore {
    /// Closes, if nobody did.
    fn drop(&mut self) {
        self.inbox.close();
        if let Some(writer) = self.writer.take() {
            // A panic there has stopped the engine already.
            drop(writer.join());
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("progress", &self.progress).finish_non_exhaustive()
    }
}
