//! What a store must do: the contract, the reference model in memory, and the suite that every engine passes.
#![warn(missing_docs)]

mod answer;
mod claim;
pub mod desk;
mod error;
mod holders;
mod memo;
mod memory;
mod op;
mod page;
pub mod portable;
pub mod record;
mod store;
#[cfg(feature = "suite")]
pub mod suite;
mod totals;
mod weight;

pub use answer::{ANSWER_BYTES_MAX, Answer, Change, Done, Growth};
pub use claim::{CLAIM_BYTES_MAX, Claim, EXPIRED_PER_CLAIM_MAX, Tray};
pub use error::StoreError;
pub use holders::{HELD_SCAN_MAX, HeldPage, HeldQuery, HolderQuery, Holders};
pub use memo::{MEMO_KEPT, Memo, MemoKey, Remembered};
pub use memory::MemoryStore;
pub use op::{Action, Op};
pub use page::{DeadLetterQuery, Page, QueueQuery};
pub use store::{Advance, CommitFacts, CommitObserver, Listener, Reply, Store};
pub use totals::{Counts, QueueFacts, Totals};
pub use weight::Weight;
