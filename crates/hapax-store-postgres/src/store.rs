//! The contract, carried out by the lanes.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};
use hapax_store::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Listener, Op,
    Page, QueueFacts, QueueQuery, Reply, Store, StoreError, Totals,
};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::task::TaskTracker;

use crate::connect::Pool;
use crate::crowd::Crowds;
use crate::fresh::Hope;
use crate::read::View;
use crate::request::{Caller, Commit, Fetch};
use crate::statements::Statements;
use crate::word::Word;
use crate::{DatabaseClock, Fault, Settings, advance};

/// What all lanes share.
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) pool: Pool,
    pub(crate) statements: Statements,
    /// Places for requests that wait for the locks of others.
    pub(crate) patient: Semaphore,
    /// Places for requests that share no transaction with others.
    pub(crate) rare: Semaphore,
    pub(crate) crowds: Crowds,
    pub(crate) tasks: Tasks,
    pub(crate) clock: DatabaseClock,
    pub(crate) word: Word,
    pub(crate) hope: Hope,
    /// What this server is called in word to others.
    pub(crate) name: String,
}

/// The tasks of the engine, which it waits for in the end.
pub(crate) struct Tasks {
    handle: Handle,
    tracker: TaskTracker,
}

impl Tasks {
    pub(crate) fn new(handle: Handle) -> Tasks {
        Tasks { handle, tracker: TaskTracker::new() }
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn_on(task, &self.handle);
    }
}

/// A store in a PostgreSQL database. Its work is done on threads of its own.
pub struct PostgresStore {
    engine: Arc<Engine>,
    doors: Mutex<Option<Doors>>,
    runtime: Option<Runtime>,
}

/// The ways to the lanes. The lanes end when these are gone.
#[derive(Clone)]
struct Doors {
    commits: mpsc::Sender<Commit>,
    claims: mpsc::Sender<Fetch>,
}

impl PostgresStore {
    pub(crate) fn new(
        engine: Arc<Engine>,
        commits: mpsc::Sender<Commit>,
        claims: mpsc::Sender<Fetch>,
        runtime: Runtime,
    ) -> PostgresStore {
        let doors = Mutex::new(Some(Doors { commits, claims }));
        PostgresStore { engine, doors, runtime: Some(runtime) }
    }

    /// The clock that all servers on this database share.
    pub fn clock(&self) -> DatabaseClock {
        self.engine.clock.clone()
    }

    fn doors(&self) -> Result<Doors, StoreError> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or(StoreError::Closed)
    }

    /// Sends a request to a lane.
    fn ask<R: Send + 'static, T: Send + 'static>(
        &self,
        door: impl FnOnce(Doors) -> mpsc::Sender<R>,
        request: impl FnOnce(Caller<T>) -> R,
    ) -> Reply<T> {
        let (caller, answer) = oneshot::channel();
        let (door, request) = (self.doors().map(door), request(caller));
        Box::pin(async move {
            door?.send(request).await.map_err(|_| StoreError::Closed)?;
            // Only a lane that broke down throws a request away, perhaps after the commit.
            answer.await.unwrap_or_else(|_| Err(StoreError::Unknown(Arc::new(Broken))))
        })
    }

    /// Does something on a connection of its own, beside the lanes.
    fn beside<T, W>(&self, work: impl FnOnce(Arc<Engine>) -> W) -> Reply<T>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        if let Err(error) = self.doors() {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (caller, answer) = oneshot::channel();
        let work = work(Arc::clone(&self.engine));
        self.engine.tasks.spawn(async move { drop(caller.send(work.await)) });
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(StoreError::Unknown(Arc::new(Broken)))) })
    }
}

/// A read, with a connection.
macro_rules! reading {
    ($store:ident, |$view:ident| $read:expr) => {
        $store.beside(async move |engine: Arc<Engine>| {
            let mut is_last = false;
            loop {
                let link = engine.pool.connection().await.map_err(Fault::failed)?;
                let $view = View { engine: &engine, link: &link };
                match $read.await {
                    Ok(answer) => {
                        link.keep();
                        return Ok(answer);
                    }
                    // A connection may have died of old age since it was used last.
                    Err(fault) if fault.is_of_the_connection() && !is_last => link.give_up(&fault),
                    Err(fault) => return Err(fault.failed()),
                }
                is_last = true;
            }
        })
    };
}

/// The engine broke down.
#[derive(Debug, thiserror::Error)]
#[error("a lane of the engine broke down")]
struct Broken;

impl Store for PostgresStore {
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.ask(|doors| doors.commits, |caller| Commit { ops, caller })
    }

    fn claim(&self, claim: Claim) -> Reply<Claimed> {
        self.ask(|doors| doors.claims, |caller| Fetch { claim, caller })
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.beside(async move |engine: Arc<Engine>| {
            let link = engine.pool.connection().await.map_err(Fault::failed)?;
            let advanced = Box::pin(advance::advance(&engine, &link, now, limit, chance)).await?;
            link.keep();
            Ok(advanced)
        })
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        reading!(self, |view| view.job(id))
    }

    fn holders(&self, query: HolderQuery) -> Reply<Holders> {
        reading!(self, |view| view.holders(&query))
    }

    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage> {
        reading!(self, |view| view.held_keys(&query))
    }

    fn jobs(&self, query: JobQuery) -> Reply<JobPage> {
        reading!(self, |view| view.job_page(&query))
    }

    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>> {
        reading!(self, |view| view.dead_letters(&query))
    }

    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>> {
        reading!(self, |view| view.queues(&query))
    }

    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>> {
        reading!(self, |view| view.queue(&name))
    }

    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>> {
        reading!(self, |view| view.entry(&key))
    }

    fn entries(&self, query: EntryQuery) -> Reply<EntryPage> {
        reading!(self, |view| view.entries(&query))
    }

    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>> {
        reading!(self, |view| view.limit(&key))
    }

    fn limits(&self, query: LimitQuery) -> Reply<LimitPage> {
        reading!(self, |view| view.limits(&query))
    }

    fn totals(&self) -> Reply<Totals> {
        reading!(self, |view| view.totals())
    }

    fn listen(&self, listener: Listener) {
        self.engine.word.listen(listener);
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn reset(&self) -> Reply<()> {
        self.beside(async move |engine: Arc<Engine>| {
            let link = engine.pool.connection().await.map_err(Fault::failed)?;
            let cleared = link.client().batch_execute(&engine.statements.clear).await;
            cleared.map_err(|error| Fault::of("clear the tables")(error).at_commit())?;
            link.keep();
            Ok(())
        })
    }

    fn close(&self) -> Reply<()> {
        let doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner).take();
        let engine = Arc::clone(&self.engine);
        Box::pin(async move {
            drop(doors.ok_or(StoreError::Closed)?);
            engine.tasks.tracker.close();
            engine.tasks.tracker.wait().await;
            engine.pool.close();
            Ok(())
        })
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting here could block a runtime of the caller.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("settings", &self.engine.settings).finish_non_exhaustive()
    }
}
