//! A desk: rows that an engine has fetched and locked are laid on it, operations are carried out on them, and what
//! changed is taken from it to be written back.
//!
//! The rules are those of the reference store, on which the desk is built; an engine that uses it has to bring every
//! row that the operations could ask for, and nothing else.

use std::collections::BTreeSet;

use hapax_core::limit::LimitKey;
use hapax_core::unique::{Key, Watch};
use hapax_core::{Chance, Job, JobId, Order, QueueName, Rules, Timestamp};

use crate::memory::contents::{Contents, Row};
pub use crate::memory::memos::Kept;
use crate::{
    Advance, Answer, Claim, Claimed, Entry, EntryKey, Followed, HolderQuery, Holders, MemoKey, Op, Revision,
};

/// From this number on, numbers are the desk's own: the engine replaces them by real ones, in their order.
pub const PROVISIONAL: u64 = 1 << 62;

/// A job with the numbers that an engine keeps beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// Its place in the order of acceptance.
    pub seq: u64,
    /// Its place among all that ever became available.
    pub turn: u64,
    /// The job.
    pub job: Job,
}

/// A row that is not what it was.
#[derive(Debug)]
pub struct Moved {
    /// What was laid on the desk; nothing for a new job.
    pub before: Option<Job>,
    /// What it is; nothing if it was removed.
    pub after: Option<Numbered>,
}

/// What an operation asked for and did not find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanting {
    /// Jobs.
    pub jobs: BTreeSet<JobId>,
    /// Entries.
    pub entries: BTreeSet<EntryKey>,
    /// Holders of keys.
    pub keys: Vec<(Key, Watch, Timestamp)>,
    /// How many jobs wait in queues, and the oldest of them.
    pub queues: BTreeSet<QueueName>,
    /// The last of lines.
    pub orders: BTreeSet<Order>,
}

impl Wanting {
    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        let Wanting { jobs, entries, keys, queues, orders } = self;
        jobs.is_empty() && entries.is_empty() && keys.is_empty() && queues.is_empty() && orders.is_empty()
    }
}

/// See above.
#[derive(Debug)]
pub struct Desk {
    contents: Contents,
}

impl Desk {
    /// An empty desk.
    pub fn new(rules: Rules) -> Desk {
        Desk { contents: Contents::above(rules, PROVISIONAL) }
    }

    /// Lays a stored job on it.
    pub fn lay(&mut self, stored: Numbered) {
        let Numbered { seq, turn, job } = stored;
        self.contents.lay(seq, Row { job, turn });
    }

    /// Lays a stored job on it that no claim takes, whatever becomes of it here.
    pub fn lay_out_of_reach(&mut self, stored: Numbered) {
        self.contents.not_to_claim.insert(stored.seq);
        self.lay(stored);
    }

    /// Says whether a queue gives out jobs.
    pub fn lay_queue(&mut self, name: &QueueName, paused: bool) {
        self.contents.queue_for(name, Timestamp::from_millis(0)).paused = paused;
    }

    /// Says how many jobs wait in a queue, those that lie here among them. After all of those were laid.
    pub fn lay_depth(&mut self, name: &QueueName, depth: u64) {
        let here = self.contents.queues.get(name).map_or(0, |queue| queue.counts.waiting());
        let elsewhere = i128::from(depth) - i128::from(here);
        self.contents.elsewhere.insert(name.clone(), i64::try_from(elsewhere).unwrap_or(i64::MAX));
    }

    /// Lays an entry on it.
    pub fn lay_entry(&mut self, entry: Entry) {
        let Entry { key, written } = entry;
        self.contents.lay_entry(&key, written);
    }

    /// Lays an entry on it, unless it is there: it may have changed here.
    pub fn lay_entry_once(&mut self, entry: Entry) {
        if self.contents.entries.get(&entry.key).is_none() {
            self.lay_entry(entry);
        }
    }

    /// Says how many jobs run that share a rate limit, but for those that started here.
    pub fn lay_active_elsewhere(&mut self, key: &LimitKey, active: u64) {
        self.contents.active_elsewhere.insert(key.clone(), active);
    }

    /// The same for all jobs of a queue.
    pub fn lay_active_in_elsewhere(&mut self, queue: &QueueName, active: u64) {
        self.contents.active_in_elsewhere.insert(queue.clone(), active);
    }

    /// Whether a claim found no room for the first of those jobs of a queue here that share a rate limit.
    pub fn is_aside(&self, queue: &QueueName, key: &LimitKey) -> bool {
        self.contents.lines.is_aside(queue, key)
    }

    /// Rate limits for which there may be room since the last call.
    pub fn take_opened(&mut self) -> BTreeSet<LimitKey> {
        std::mem::take(&mut self.contents.opened)
    }

    /// Says that there are no such jobs, no such entries, no other holders of such keys, and nobody behind those in such
    /// lines.
    pub fn lay_gaps(&mut self, gaps: &Wanting) {
        self.contents.gaps.absent_jobs.extend(gaps.jobs.iter().copied());
        self.contents.gaps.absent_entries.extend(gaps.entries.iter().cloned());
        self.contents.gaps.known_keys.extend(gaps.keys.iter().map(|(key, ..)| *key));
        self.contents.gaps.known_orders.extend(gaps.orders.iter().cloned());
    }

    /// What was asked for since the last call and does not lie on it. Whatever was done since then was done without it: it has
    /// to be fetched or said to be missing, and everything done again on a new desk.
    pub fn take_wanting(&mut self) -> Wanting {
        let gaps = &mut self.contents.gaps;
        Wanting {
            jobs: std::mem::take(&mut gaps.jobs),
            entries: std::mem::take(&mut gaps.entries),
            keys: std::mem::take(&mut gaps.keys),
            queues: std::mem::take(&mut gaps.queues),
            orders: std::mem::take(&mut gaps.orders),
        }
    }

    /// Lays a remembered answer on it.
    pub fn lay_memo(&mut self, key: MemoKey, kept: Kept) {
        self.contents.memos.lay(key, kept);
    }

    /// A job that lies on it.
    pub fn get(&self, id: JobId) -> Option<&Job> {
        self.contents.get(id)
    }

    /// The answer that is remembered under this key by now.
    pub fn memo(&self, key: &MemoKey) -> Option<&Kept> {
        self.contents.memos.get(key)
    }

    /// Those of the jobs on it that a query about a key asks for.
    pub fn holders(&self, query: &HolderQuery) -> Holders {
        self.contents.look_up(query)
    }

    /// Carries out an operation.
    pub fn apply(&mut self, op: Op) -> Answer {
        self.contents.apply(op)
    }

    /// Gives jobs to a worker.
    pub fn claim(&mut self, claim: &Claim) -> Claimed {
        self.contents.claim(claim)
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Advance {
        self.contents.advance(now, limit, chance)
    }

    /// The entries that changed since the last call.
    pub fn take_moved_entries(&mut self) -> Vec<(EntryKey, Revision)> {
        self.contents.take_entry_journal()
    }

    /// What follows from the end of a job for its workflow, if nothing has followed from it yet.
    pub fn catch_up(&mut self, id: JobId, now: Timestamp) -> Option<Followed> {
        self.contents.catch_up(id, now)
    }

    /// Queues that operations put jobs into and that nobody had laid on it. A job may have gone on to another queue within one
    /// operation, and then no row that moved tells of the first; but a queue is there from its first use on.
    pub fn new_queues(&self) -> impl Iterator<Item = &QueueName> {
        self.contents.new_queues()
    }

    /// What changed since the last call, in the order of acceptance.
    pub fn take_moved(&mut self) -> Vec<Moved> {
        let moved = self.contents.take_journal().into_iter().filter_map(|(seq, before, after)| {
            let is_same = match (&before, &after) {
                (None, None) => true,
                (Some(before), Some(after)) => before.turn == after.turn && before.job == after.job,
                _ => false,
            };
            let after = after.map(|Row { job, turn }| Numbered { seq, turn, job });
            (!is_same).then(|| Moved { before: before.map(|row| row.job), after })
        });
        moved.collect()
    }
}
