//! The end: what happens when the engine cannot keep its promises any more.
//!
//! This includes a row that cannot be read when an operation, a claim or the passing of time needs it. To step
//! over it would lose a job without a word, so the process stops, and stops again whenever the row is touched,
//! until somebody has repaired it. The message names what to repair: the table, the column and the `seq`.
//! (A damaged row that only a `get` or a list meets fails that call and nothing else.)

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
    /// A commit, a checkpoint or a read of the writer failed. A damaged row is named by table, column and
    /// `seq`.
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
