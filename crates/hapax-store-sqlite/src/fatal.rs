//! The end: what happens when the engine can no longer keep its promises.

use std::error::Error;
use std::io;
use std::sync::Arc;

use crate::Fault;

/// Why the engine stopped. Whatever it had not answered may or may not be on disk.
#[derive(Debug, thiserror::Error)]
pub enum FatalError {
    /// After a failed sync nobody knows what is on disk, and trying again would not tell (fsync forgets).
    #[error("the write-ahead log could not be made durable")]
    Sync(#[source] io::Error),
    /// A commit, a checkpoint or a read of the writer failed.
    #[error("the database failed")]
    Fault(#[source] Fault),
    /// A thread of the engine panicked with a change half made.
    #[error("the {0} thread panicked")]
    Panicked(&'static str),
}

/// What to do when the engine stops.
pub type Fatal = Arc<dyn Fn(&FatalError) + Send + Sync>;

/// `EX_SOFTWARE`, so that a supervisor can tell this end from others.
const EXIT_CODE: i32 = 70;

/// Says why and ends the process: a restart recovers from what is on disk, and nothing else can be trusted.
pub(crate) fn exit_process() -> Fatal {
    Arc::new(|error| {
        eprintln!("hapax: the store stopped: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            eprintln!("hapax:   because: {error}");
            cause = error.source();
        }
        std::process::exit(EXIT_CODE);
    })
}
