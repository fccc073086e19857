//! The contract.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};

use crate::{
    Answer, Change, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Op, Page,
    QueueFacts, QueueQuery, StoreError, Tick, Totals,
};

/// What a store promises to answer.
pub type Reply<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// A store of jobs.
///
/// Load, decide and store happen inside the engine: it is given whole operations, calls `hapax-core` on the
/// rows it owns, and writes what core says. It knows no rule of a job's life and no conflict strategy.
/// What it answers is on disk, and later reads see it.
pub trait Store: Send + Sync + fmt::Debug {
    /// Carries out operations one after the other, each atomic on its own; the answers stand in the same
    /// order. Operations of other callers may come between them.
    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>>;

    /// Gives available jobs to a worker: queues in the order of the request, inside a queue the higher
    /// priority first, then the job that became available first, whatever the clock said: a job takes its
    /// turn when it becomes available and keeps it when it is updated in place. Paused queues give nothing. A claim stops short of its count after
    /// [`CLAIM_BYTES_MAX`](crate::CLAIM_BYTES_MAX) bytes.
    /// The changes also name jobs that turned out to have expired, in the order in which they were met; an expired step of
    /// a workflow may be left to `advance`.
    ///
    /// Jobs for which a rate limit leaves no room are passed over; that time made room for them may be noticed only by the
    /// next `advance`.
    fn claim(&self, claim: Claim) -> Reply<Claimed>;

    /// Lets time pass: applies `TimePassed` once to each of at most `limit` jobs that are due at `now`, the
    /// most overdue first, then in the order of their creation, and lets happen what is due for as many entries; and
    /// forgets all memos that are past their time, whatever the limit.
    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance>;

    /// The job of that id.
    fn get(&self, id: JobId) -> Reply<Option<Job>>;

    /// The jobs that carry a key. A read like any other: it does not hold up those that write, and while a key goes from job
    /// to job without a pause it may show it between two of them.
    fn holders(&self, query: HolderQuery) -> Reply<Holders>;

    /// Jobs that carry a key and have not ended, in the order in which they were accepted.
    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage>;

    /// Jobs by what they are, in the order of their ids. A look is bounded and may end before it found as many as are
    /// wanted: see [`JobPage::next`].
    fn jobs(&self, query: JobQuery) -> Reply<JobPage>;

    /// Dead letters, newest first.
    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>>;

    /// Queues by name.
    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>>;

    /// One queue; nothing if it was never used.
    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>>;

    /// The entry of that name.
    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>>;

    /// Entries of a register, by name.
    fn entries(&self, query: EntryQuery) -> Reply<EntryPage>;

    /// A rate limit; nothing if no job has it that has not ended, and nothing is remembered of it.
    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>>;

    /// Rate limits by key.
    fn limits(&self, query: LimitQuery) -> Reply<LimitPage>;

    /// Sums over all queues.
    fn totals(&self) -> Reply<Totals>;

    /// Has somebody told of jobs that others made available: other servers on the same data, transactions of the users; and
    /// of jobs for which a rate limit may leave room again. It may be told too often; of what others do now and then too
    /// little.
    fn listen(&self, listener: Listener);

    /// Whether others work on the same data, so that its callers do not hear of everything that happens, and whether it may
    /// be out of reach for a while and come back.
    fn is_shared(&self) -> bool {
        false
    }

    /// Removes everything. For test servers.
    fn reset(&self) -> Reply<()>;

    /// Finishes what was accepted, makes it durable and lets go of the files. Later calls fail.
    fn close(&self) -> Reply<()>;
}

/// What became due.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Advance {
    /// What changed, in the order in which it was due.
    pub changes: Vec<Change>,
    /// What recurring jobs did.
    pub ticks: Vec<Tick>,
    /// How many entries were due.
    pub entries: usize,
    /// How many ended steps were kept on because their workflows go on.
    pub kept: usize,
    /// When a job or an entry is due next; in the past if the limit cut the work short or a job is due again at once. Memos
    /// do not count: they wait for the next call, whenever it comes.
    pub next_due: Option<Timestamp>,
}

/// Who is told of a queue in which jobs may have become available, and how many. It must be quick.
pub type Listener = Arc<dyn Fn(&QueueName, usize) + Send + Sync>;

/// Facts about one commit, for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitFacts {
    /// How many operations shared it.
    pub operations: usize,
    /// How long applying and writing took.
    pub apply: Duration,
    /// How long making it durable took.
    pub sync: Duration,
}

/// Who is told of every commit. Called on the engine's own thread: it must be quick.
pub type CommitObserver = Arc<dyn Fn(CommitFacts) + Send + Sync>;
