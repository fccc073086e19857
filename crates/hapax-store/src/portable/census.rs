//! How many things there are, and the checksum over their lines.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::item::Item;
use super::{LineFault, hex};
use crate::portable::members::Members;
use crate::portable::object::Object;

/// How many of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Queues that were ever used.
    pub queues: u64,
    /// Jobs in every state.
    pub jobs: u64,
    /// Named things beside the jobs.
    pub entries: u64,
    /// Remembered answers.
    pub memos: u64,
}

impl Census {
    /// All of them.
    pub fn total(self) -> u64 {
        let Census { queues, jobs, entries, memos } = self;
        queues + jobs + entries + memos
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Queue(_) => self.queues += 1,
            Item::Job(_) => self.jobs += 1,
            Item::Entry(_) => self.entries += 1,
            Item::Memo(..) => self.memos += 1,
        }
    }

    pub(super) fn write(self, line: &mut Object) {
        let Census { queues, jobs, entries, memos } = self;
        line.number("queues", queues);
        line.number("jobs", jobs);
        line.number("entries", entries);
        line.number("memos", memos);
    }

    pub(super) fn read(members: &mut Members<'_>) -> Result<Census, LineFault> {
        Ok(Census {
            queues: members.needed_number("queues")?,
            jobs: members.needed_number("jobs")?,
            entries: members.needed_number("entries")?,
            memos: members.needed_number("memos")?,
        })
    }
}

impl fmt::Display for Census {
    /// `2 queues, 1 job, 3 entries and 0 remembered answers`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Census { queues, jobs, entries, memos } = *self;
        let s = |number: u64| if number == 1 { "" } else { "s" };
        write!(
            f,
            "{queues} queue{}, {jobs} job{}, {entries} {} and {memos} remembered answer{}",
            s(queues),
            s(jobs),
            if entries == 1 { "entry" } else { "entries" },
            s(memos)
        )
    }
}

/// What the last line says: two exports with the same seal hold the same things.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// How many there were.
    pub census: Census,
    /// SHA-256 over the lines between the first and the last, each with the line break behind it.
    pub sha256: [u8; 32],
}

impl Seal {
    /// The checksum in hexadecimal digits.
    pub fn checksum(&self) -> String {
        hex::write(&self.sha256)
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.census, self.checksum())
    }
}

/// Counts and hashes lines as they pass.
#[derive(Debug, Clone, Default)]
pub(super) struct Running {
    census: Census,
    hash: Sha256,
}

impl Running {
    pub(super) fn note(&mut self, item: &Item, line: &str) {
        self.census.add(item);
        self.hash.update(line.as_bytes());
        self.hash.update(b"\n");
    }

    pub(super) fn census(&self) -> Census {
        self.census
    }

    pub(super) fn seal(&self) -> Seal {
        Seal { census: self.census, sha256: self.hash.clone().finalize().into() }
    }
}
