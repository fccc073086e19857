//! Checkpoints: copying the write-ahead log back into the database, so that the log can start over.
//!
//! A thread with a connection of its own copies most of it beside the writer, twice, since the log grows
//! meanwhile; then the writer copies the little that is left between two groups, after which its next commit
//! starts the log over. Without that last pass a busy log would never end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use crate::pragma::PAGE_BYTES;
use crate::progress::{Progress, Watchman};
use crate::row::statement;
use crate::{FatalError, Fault};

/// A frame of the log is a page and its header.
const FRAME_BYTES: u64 = PAGE_BYTES + 24;

/// When the log is so many times as long as it should be, the writer stops to empty it.
const OVERDUE: u64 = 4;

const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
const RESTART: &str = "PRAGMA wal_checkpoint(RESTART)";
const TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The thread, as the writer sees it.
pub(crate) struct Checkpointer {
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
    /// Set by the thread when its passes are done.
    passed: Arc<AtomicBool>,
    at_work: bool,
    /// How long the log was after the last commit.
    frames: Arc<AtomicU64>,
    /// How long it may become.
    frames_max: u64,
}

impl Checkpointer {
    pub(crate) fn start(db: Connection, log_bytes: u64, progress: Arc<Progress>) -> io::Result<Checkpointer> {
        let (wake, woken) = sync_channel(1);
        let passed = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&passed);
        let work = move || {
            let _watchman = Watchman { thread: "checkpoint", progress: Arc::clone(&progress) };
            if let Err(fault) = run(&db, &woken, &done) {
                progress.fail(&FatalError::Fault(fault));
            }
        };
        let thread = thread::Builder::new().name("hapax-checkpoint".into()).spawn(work)?;
        let frames = Arc::default();
        let frames_max = (log_bytes / FRAME_BYTES).max(1);
        Ok(Checkpointer { wake, thread, passed, at_work: false, frames, frames_max })
    }

    /// Lets the writer's commits say how long the log is: asking by a pragma after each costs as much as writing a
    /// few rows. No pragma about checkpoints may follow, it would take the place of this.
    pub(crate) fn watch(&self, writer: &mut Connection) -> Result<(), Fault> {
        let frames = Arc::clone(&self.frames);
        let note = move |_: &mut Wal, length| {
            frames.store(u64::try_from(length).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        };
        writer.wal_hook(Some(note)).map_err(Fault::of("watch the write-ahead log"))
    }

    /// Called by the writer between groups.
    pub(crate) fn tend(&mut self, writer: &Connection) -> Result<(), Fault> {
        if self.passed.swap(false, Ordering::Acquire) {
            self.at_work = false;
            return checkpoint(writer, PASSIVE);
        }
        let frames = self.frames.load(Ordering::Relaxed);
        if frames > self.frames_max * OVERDUE {
            checkpoint(writer, RESTART)?;
        } else if frames > self.frames_max && !self.at_work {
            // A full channel means that the thread has been told.
            self.at_work = self.wake.try_send(()).is_ok();
        }
        Ok(())
    }

    /// Waits for the thread and lets go of its connection.
    pub(crate) fn finish(self) {
        drop(self.wake);
        // A panic there has stopped the engine already.
        drop(self.thread.join());
    }
}

fn run(db: &Connection, woken: &Receiver<()>, passed: &AtomicBool) -> Result<(), Fault> {
    while woken.recv().is_ok() {
        checkpoint(db, PASSIVE)?;
        checkpoint(db, PASSIVE)?;
        passed.store(true, Ordering::Release);
    }
    Ok(())
}

/// Copies all of the log and cuts it to nothing. Only while nobody else uses the file.
pub(crate) fn empty_log(db: &Connection) -> Result<(), Fault> {
    checkpoint(db, TRUNCATE)
}

/// That another checkpoint or a reader was in the way is no error: what is left will be copied the next time.
fn checkpoint(db: &Connection, sql: &str) -> Result<(), Fault> {
    statement(db, sql)?.query_row([], |_| Ok(())).map_err(Fault::of("copy the write-ahead log back"))
}
