//! The embedded engine: SQLite for truth, memory for indexes, one writer, group commit.
//!
//! ```text
//! callers ─▶ inbox ─▶ writer ──▶ syncer ─▶ callers
//!                     │  │  ▲        one fdatasync for all groups committed before it
//!                     │  │  └ indexes in memory, built at start by one scan
//!                     │  └──▶ checkpointer
//!                     ▼
//!             SQLite file ◀── readers ◀─ callers
//! ```
//!
//! The writer takes all requests that wait, applies them to memory, writes the changed rows in one
//! transaction and commits it without a sync. Then the log is made durable, and only then are the callers
//! answered, in the order of the commits: by the syncer, while the writer goes on; or by the writer itself when
//! there is nothing else to do meanwhile, which saves waking two threads. Any error of a commit, a sync or a
//! checkpoint stops the process, and so does a row that the writer cannot read (see `fatal`).
#![warn(missing_docs)]

mod fatal;
mod fault;
mod folder;
mod open;
mod pragma;
mod rebuild;
mod schema;

mod sight;
mod store;

mod inbox;
mod progress;
mod request;

mod advance;
mod checkpoint;
mod claim;
mod commit;
mod ground;
mod group;
mod holders;
mod syncer;
mod tables;
mod writer;

mod mark;
mod source;
mod target;

mod cache;
mod entry;
mod index;
mod listening;
mod memo;
mod queue;
mod read;
mod row;

#[cfg(test)]
#[path = "../tests/support/draft.rs"]
mod draft;

pub use fatal::{Fatal, FatalError};
pub use fault::Fault;
pub use open::{OpenError, Settings, WatchLog};
pub use source::SqliteSource;
pub use store::SqliteStore;
pub use syncer::Durable;
pub use target::SqliteTarget;
