//! What a store must do: the contract, the reference model in memory, and the suite that every engine passes.
#![warn(missing_docs)]

mod answer;
mod claim;
pub mod cron;
pub mod desk;
mod entry;
mod error;
mod fall_due;
mod ground;
mod holders;
mod jobs;
pub mod limit;
pub mod lines;
mod memo;
mod memory;
mod op;
mod outbox;
mod page;
mod parent_results;
pub mod portable;
pub mod record;
pub mod room;
pub mod settings;
pub mod sharers;
mod store;
pub mod succession;
#[cfg(feature = "suite")]
pub mod suite;
mod totals;
pub mod webhook;
mod weight;
pub mod workflow;

pub use answer::{ANSWER_BYTES_MAX, Answer, Change, Done, Growth};
pub use claim::{
    CLAIM_BYTES_MAX, Claim, Claimed, EXPIRED_PER_CLAIM_MAX, TENANT_LOOK_MAX, Tray, bytes_of, may_take,
};
pub use cron::Tick;
pub use entry::{Edit, Entry, EntryKey, EntryPage, EntryQuery, JointEdit, Register, Revision, Written};
pub use error::StoreError;
pub use fall_due::fall_due;
pub use ground::{Ground, edit, edit_together};
pub use holders::{HELD_SCAN_MAX, HeldPage, HeldQuery, HolderQuery, Holders};
pub use jobs::{JOB_SCAN_BYTES_MAX, JOB_SCAN_MAX, JobPage, JobQuery, JobScan, ListOrder};
pub use limit::HeldBack;
pub use memo::{MEMO_KEPT, Memo, MemoKey, Remembered};
pub use memory::MemoryStore;
pub use op::{Action, Op};
pub use outbox::{Happened, Letter, NoOutbox, Outbox};
pub use page::{DeadLetterQuery, LETTER_BYTES_MAX, Page, QueueQuery};
pub use parent_results::{HANDED_ON_BYTES_MAX, PARENT_RESULTS_BYTES_MAX};
pub use settings::DEFAULT_SETTINGS;
pub use sharers::{LimitFacts, LimitPage, LimitQuery, WAITING_COUNTED_MAX};
pub use store::{Advance, CommitFacts, CommitObserver, Listener, Reply, Store};
pub use succession::{Departure, Departures};
pub use totals::{Counts, QueueFacts, Totals};
pub use weight::Weight;
pub use workflow::{Followed, NewWorkflow, Started};
