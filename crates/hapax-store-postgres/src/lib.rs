//! The shared engine: PostgreSQL for truth and for locks, any number of servers on one database.
//!
//! ```text
//! callers ─▶ commit lane ─▶ new jobs that meet nobody: one statement that looks, stores and commits
//!        │         ├ else one transaction: lock keys, fetch and lock rows, decide on a desk, write, commit
//!        │         └ who met a lock ─▶ patient lane: the same, one request at a time, waiting for its locks
//!        ├─▶ claim lane ─▶ one transaction: skip locked rows, decide, write, commit
//!        └─▶ reads
//! ```
//!
//! The lanes never wait for a lock: a key or a row that another server or a transaction of the users holds sends its
//! request to the patient lane, and nobody else notices. Rules are not here: rows are laid on a
//! [`Desk`](hapax_store::desk::Desk), which decides as the reference store does.
#![warn(missing_docs)]

mod clock;
mod connect;
mod database_url;
mod fault;
mod migrate;
mod open;
mod schema;
mod settings;
mod share;
mod store;

mod advance;
mod claim;
mod commit;
mod crowd;
mod entangled;
mod entry;
mod lane;
mod limits;
mod locks;
mod patient;
mod request;
mod statements;
mod transaction;
mod waiting;

mod mark;
mod source;
mod target;

mod fresh;
mod load;
mod memo;
mod queue;
mod read;
mod row;
mod save;
mod tally;
mod word;

pub use clock::DatabaseClock;
pub use database_url::{DatabaseUrl, DatabaseUrlError};
pub use fault::Fault;
pub use migrate::{migrate, plan};
pub use open::OpenError;
pub use schema::Step;
pub use settings::{SchemaName, SchemaNameError, Settings};
pub use source::PostgresSource;
pub use store::PostgresStore;
pub use target::PostgresTarget;
