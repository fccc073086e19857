//! How far the engine is: which groups have begun and which are on disk.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hapax_store::StoreError;
use tokio::sync::watch;

use crate::{Fatal, FatalError};

/// Counts groups. Readers may see what is committed but not yet on disk; they wait here until it is, so
/// that nothing is ever shown that a power cut could take back.
pub(crate) struct Progress {
    begun: AtomicU64,
    durable: watch::Sender<Reached>,
    fatal: Fatal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    Group(u64),
    /// There will be no further group.
    Failed,
}

/// The engine stopped.
#[derive(Debug, thiserror::Error)]
#[error("the engine stopped after an error of the machine")]
pub(crate) struct Stopped;

impl Progress {
    pub(crate) fn new(fatal: Fatal) -> Progress {
        Progress { begun: AtomicU64::new(0), durable: watch::Sender::new(Reached::Group(0)), fatal }
    }

    /// Another group starts to change what readers can see.
    pub(crate) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// All groups up to this one are on disk. False if the engine has failed meanwhile.
    pub(crate) fn reach(&self, group: u64) -> bool {
        self.durable.send_if_modified(|reached| {
            let going_on = *reached != Reached::Failed;
            if going_on {
                *reached = Reached::Group(group);
            }
            going_on
        })
    }

    /// Nothing is answered from here on.
    pub(crate) fn fail(&self, error: &FatalError) {
        self.durable.send_replace(Reached::Failed);
        (self.fatal)(error);
    }

    /// Whether that group is on disk, or never will be.
    pub(crate) fn is_settled(&self, group: u64) -> bool {
        match *self.durable.borrow() {
            Reached::Group(number) => number >= group,
            Reached::Failed => true,
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        *self.durable.borrow() == Reached::Failed
    }

    /// The newest group of which something may have been seen.
    pub(crate) fn seen(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Waits until that group is on disk.
    pub(crate) async fn durable(&self, group: u64) -> Result<(), StoreError> {
        let mut durable = self.durable.subscribe();
        let enough = |reached: &Reached| match reached {
            Reached::Group(number) => *number >= group,
            Reached::Failed => true,
        };
        match durable.wait_for(enough).await.as_deref() {
            Ok(Reached::Group(_)) => Ok(()),
            Ok(Reached::Failed) | Err(_) => Err(StoreError::Failed(Arc::new(Stopped))),
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("begun", &self.begun).finish_non_exhaustive()
    }
}

/// Held by a thread of the engine: a panic there stops everything.
pub(crate) struct Watchman {
    pub(crate) thread: &'static str,
    pub(crate) progress: Arc<Progress>,
}

impl Drop for Watchman {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.progress.fail(&FatalError::Panicked(self.thread));
        }
    }
}
