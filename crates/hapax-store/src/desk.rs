//! A desk: rows that an engine has fetched and locked are laid on it, operations are carried out on them, and what
//! changed is taken from it to be written back.
//!
//! The rules are those of the reference store, on which the desk is built; an engine that uses it has to bring every
//! row that the operations could ask for, and nothing else.

use hapax_core::{Chance, Job, JobId, QueueName, Rules, Timestamp};

use crate::memory::contents::{Contents, Row};
pub use crate::memory::memos::Kept;
use crate::{Advance, Answer, Change, Claim, HolderQuery, Holders, MemoKey, Op};

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

    /// Says whether a queue gives out jobs.
    pub fn lay_queue(&mut self, name: &QueueName, paused: bool) {
        self.contents.queue_for(name, Timestamp::from_millis(0)).paused = paused;
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
    pub fn claim(&mut self, claim: &Claim) -> Vec<Change> {
        self.contents.claim(claim)
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Advance {
        self.contents.advance(now, limit, chance)
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
