//! What makes groups durable, and only then answers: a thread beside the writer, or the writer itself when there
//! is nothing to do meanwhile.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hapax_store::{CommitFacts, CommitObserver};

use crate::FatalError;
use crate::progress::{Progress, Watchman};
use crate::request::Answered;

/// How many committed groups may wait for the disk. More would not make a sync cheaper: the writer waits, and
/// the next group grows.
const GROUPS_UNSYNCED_MAX: usize = 4;

/// What can be made durable. One for the file, others for tests.
pub trait Durable: Send {
    /// Returns when everything that was written before is on disk.
    fn sync(&self) -> io::Result<()>;
}

impl Durable for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A committed group.
pub(crate) struct Sealed {
    pub(crate) number: u64,
    /// Whether it left anything to sync.
    pub(crate) wrote: bool,
    pub(crate) answers: Vec<Answered>,
    pub(crate) operations: usize,
    pub(crate) apply: Duration,
}

impl Sealed {
    pub(crate) fn new(number: u64) -> Sealed {
        Sealed { number, wrote: false, answers: Vec::new(), operations: 0, apply: Duration::ZERO }
    }
}

/// The thread, the way to it, and what it does, which the writer may do itself.
pub(crate) struct Syncer {
    groups: SyncSender<Sealed>,
    thread: JoinHandle<()>,
    log: Arc<Log>,
}

/// The log of the database, and whom to tell when it is on disk.
struct Log {
    file: Mutex<Box<dyn Durable>>,
    progress: Arc<Progress>,
    /// The last group of which everybody was answered. Behind `progress`, which readers and the next commit wait
    /// for: they need the disk, and not the answers.
    answered: AtomicU64,
    observer: CommitObserver,
}

/// The engine has failed.
pub(crate) struct Gone;

impl Syncer {
    /// Starts the thread. `synced` is called after every sync it made, and when there will be no other.
    pub(crate) fn start(
        file: Box<dyn Durable>,
        progress: Arc<Progress>,
        observer: CommitObserver,
        synced: impl Fn() + Send + 'static,
    ) -> io::Result<Syncer> {
        let (groups, sealed) = sync_channel(GROUPS_UNSYNCED_MAX);
        let log = Arc::new(Log { file: Mutex::new(file), progress, answered: AtomicU64::new(0), observer });
        let at_work = Arc::clone(&log);
        let work = move || {
            let _watchman = Watchman { thread: "sync", progress: Arc::clone(&at_work.progress) };
            run(&at_work, &sealed, &synced);
            synced();
        };
        let thread = thread::Builder::new().name("hapax-sync".into()).spawn(work)?;
        Ok(Syncer { groups, thread, log })
    }

    /// Lets the thread make a group durable and answer.
    pub(crate) fn send(&self, group: Sealed) -> Result<(), Gone> {
        self.groups.send(group).map_err(|_| Gone)
    }

    /// Whether everybody in the groups up to this one has been answered, so that nothing is left to the thread.
    pub(crate) fn has_answered(&self, group: u64) -> bool {
        self.log.answered.load(Ordering::SeqCst) >= group
    }

    /// Makes a group durable and answers, here and now. Only when all groups before it have been answered
    /// ([`Syncer::has_answered`]): groups are answered in the order of their commits.
    pub(crate) fn settle(&self, group: Sealed) -> Result<(), Gone> {
        self.log.settle(vec![group], &|| ())
    }

    /// Waits until everything is durable and answered.
    pub(crate) fn finish(self) {
        drop(self.groups);
        // A panic there has stopped the engine already.
        drop(self.thread.join());
    }
}

/// One sync covers every group that was committed before it began.
fn run(log: &Log, sealed: &Receiver<Sealed>, synced: &dyn Fn()) {
    while let Ok(first) = sealed.recv() {
        let mut groups = vec![first];
        groups.extend(sealed.try_iter().take(GROUPS_UNSYNCED_MAX));
        if log.settle(groups, synced).is_err() {
            return;
        }
    }
}

impl Log {
    fn settle(&self, groups: Vec<Sealed>, synced: &dyn Fn()) -> Result<(), Gone> {
        let sync = match self.timed_sync(groups.iter().any(|group| group.wrote)) {
            Ok(sync) => sync,
            Err(error) => {
                self.progress.fail(&FatalError::Sync(error));
                return Err(Gone);
            }
        };
        let last = groups.last().map_or(0, |group| group.number);
        if !self.progress.reach(last) {
            return Err(Gone);
        }
        synced();
        for Sealed { answers, operations, apply, .. } in groups {
            answers.into_iter().for_each(Answered::tell);
            (self.observer)(CommitFacts { operations, apply, sync });
        }
        self.answered.store(last, Ordering::SeqCst);
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "measures the sync")]
    fn timed_sync(&self, wanted: bool) -> io::Result<Duration> {
        if !wanted {
            return Ok(Duration::ZERO);
        }
        let start = Instant::now();
        self.file.lock().unwrap_or_else(PoisonError::into_inner).sync()?;
        Ok(start.elapsed())
    }
}
