//! The thread that makes groups durable, and only then answers.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
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

/// The thread and the way to it.
pub(crate) struct Syncer {
    groups: SyncSender<Sealed>,
    thread: JoinHandle<()>,
}

/// The syncer is gone: it has failed.
pub(crate) struct Gone;

impl Syncer {
    /// Starts the thread. `synced` is called after every sync, and when there will be no other.
    pub(crate) fn start(
        log: Box<dyn Durable>,
        progress: Arc<Progress>,
        observer: CommitObserver,
        synced: impl Fn() + Send + 'static,
    ) -> io::Result<Syncer> {
        let (groups, sealed) = sync_channel(GROUPS_UNSYNCED_MAX);
        let work = move || {
            let _watchman = Watchman { thread: "sync", progress: Arc::clone(&progress) };
            if let Err(error) = run(&*log, &sealed, &progress, &observer, &synced) {
                progress.fail(&FatalError::Sync(error));
            }
            synced();
        };
        let thread = thread::Builder::new().name("hapax-sync".into()).spawn(work)?;
        Ok(Syncer { groups, thread })
    }

    pub(crate) fn send(&self, group: Sealed) -> Result<(), Gone> {
        self.groups.send(group).map_err(|_| Gone)
    }

    /// Waits until everything is durable and answered.
    pub(crate) fn finish(self) {
        drop(self.groups);
        // A panic there has stopped the engine already.
        drop(self.thread.join());
    }
}

/// One sync covers every group that was committed before it began.
fn run(
    log: &dyn Durable,
    sealed: &Receiver<Sealed>,
    progress: &Progress,
    observer: &CommitObserver,
    synced: &dyn Fn(),
) -> io::Result<()> {
    while let Ok(first) = sealed.recv() {
        let mut groups = vec![first];
        groups.extend(sealed.try_iter().take(GROUPS_UNSYNCED_MAX));
        let sync = timed_sync(log, groups.iter().any(|group| group.wrote))?;
        let last = groups.last().map_or(0, |group| group.number);
        if !progress.reach(last) {
            return Ok(());
        }
        synced();
        for Sealed { answers, operations, apply, .. } in groups {
            answers.into_iter().for_each(Answered::tell);
            observer(CommitFacts { operations, apply, sync });
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "measures the sync")]
fn timed_sync(log: &dyn Durable, wanted: bool) -> io::Result<Duration> {
    if !wanted {
        return Ok(Duration::ZERO);
    }
    let start = Instant::now();
    log.sync()?;
    Ok(start.elapsed())
}
