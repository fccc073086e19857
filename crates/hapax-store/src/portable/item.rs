//! What lines are about: queues, jobs and remembered answers, and how they are written and read.

use std::str;
use std::sync::Arc;

use hapax_core::json::{self, Limits};
use hapax_core::{QueueName, Timestamp};

use super::census::{Census, Seal};
use super::members::{Members, wrong};
use super::object::Object;
use super::{LineFault, hex, job};
use crate::desk::{Kept, Numbered};
use crate::{Entry, EntryKey, MemoKey, Register, Remembered, Written, workflow};

const QUEUE: &str = "queue";
const JOB: &str = "job";
const ENTRY: &str = "entry";
const MEMO: &str = "memo";
const END: &str = "end";
/// A recurring job carries a whole request in its entry.
const BODY_LIMITS: Limits = Limits { depth_max: Limits::DEFAULT.depth_max + 8 };
/// What HTTP has.
const STATUS: std::ops::RangeInclusive<u16> = 100..=599;

/// One thing that a store holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A queue.
    Queue(Queue),
    /// A job with its places.
    Job(Box<Numbered>),
    /// A named thing beside the jobs.
    Entry(Entry),
    /// A remembered answer and its name.
    Memo(MemoKey, Kept),
}

/// What is kept of a queue besides its jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// Its name.
    pub name: QueueName,
    /// Whether it gives out no jobs.
    pub paused: bool,
    /// When it was first used.
    pub created_at: Timestamp,
}

/// What a line between the first and the end may be.
#[derive(Debug)]
pub(super) enum Line {
    Item(Item),
    End(Seal),
}

impl Item {
    pub(super) fn write(&self, line: &mut Object) {
        match self {
            Item::Queue(Queue { name, paused, created_at }) => {
                line.text("kind", QUEUE);
                line.text("name", name.as_str());
                line.flag("paused", *paused);
                line.number("created_at", created_at.millis());
            }
            Item::Job(stored) => {
                line.text("kind", JOB);
                job::write(line, stored);
            }
            Item::Entry(Entry { key: EntryKey { register, name }, written: Written { body, due_at } }) => {
                line.text("kind", ENTRY);
                line.text("register", register.name());
                line.text("name", name);
                line.text("body", body);
                if let Some(at) = due_at {
                    line.number("due_at", at.millis());
                }
            }
            Item::Memo(MemoKey(name), kept) => {
                line.text("kind", MEMO);
                write_memo(line, name, kept);
            }
        }
    }
}

impl Line {
    pub(super) fn write_end(line: &mut Object, seal: &Seal) {
        line.text("kind", END);
        seal.census.write(line);
        line.text("sha256", &seal.checksum());
    }

    pub(super) fn read(text: &str) -> Result<Line, LineFault> {
        let mut members = Members::of(text)?;
        let kind = members.text("kind")?.ok_or(LineFault::Kind)?;
        let line = match &*kind {
            QUEUE => Line::Item(Item::Queue(read_queue(&mut members)?)),
            JOB => Line::Item(Item::Job(Box::new(job::read(&mut members)?))),
            ENTRY => Line::Item(Item::Entry(read_entry(&mut members)?)),
            MEMO => Line::Item(read_memo(&mut members)?),
            END => Line::End(read_end(&mut members)?),
            _ => return Err(LineFault::Kind),
        };
        members.end()?;
        Ok(line)
    }
}

fn read_queue(members: &mut Members<'_>) -> Result<Queue, LineFault> {
    Ok(Queue {
        name: members.needed_parsed("name", "the name of a queue", |text| QueueName::parse(text).ok())?,
        paused: members.flag("paused")?.ok_or(LineFault::Missing("paused"))?,
        created_at: members.needed_time("created_at")?,
    })
}

fn read_entry(members: &mut Members<'_>) -> Result<Entry, LineFault> {
    let register = members.needed_parsed("register", "the name of a register", Register::named)?;
    // PostgreSQL has no text with a NUL in it.
    let is_fine = |text: &str| (!text.is_empty() && !text.contains('\0')).then(|| text.into());
    let name: Arc<str> = members.needed_parsed("name", "a name without a NUL", is_fine)?;
    let is_json = |text: &str| json::read(text, BODY_LIMITS).is_ok().then(|| text.into());
    let body = members.needed_parsed("body", "the text of a JSON document", is_json)?;
    let entry = Entry {
        key: EntryKey { register, name },
        written: Written { body, due_at: members.time("due_at")? },
    };
    if workflow::is_readable(&entry) { Ok(entry) } else { Err(wrong("body", "what such an entry says")) }
}

fn write_memo(line: &mut Object, name: &str, kept: &Kept) {
    let Kept { since, fingerprint, reply: Remembered { status, body } } = kept;
    line.number("since", since.millis());
    line.text("name", name);
    line.text("fingerprint", &hex::write(fingerprint));
    line.number("status", *status);
    match str::from_utf8(body) {
        Ok(text) => line.text("body", text),
        Err(_) => line.text("body_hex", &hex::write(body)),
    }
}

fn read_memo(members: &mut Members<'_>) -> Result<Item, LineFault> {
    let since = members.needed_time("since")?;
    // PostgreSQL has no text with a NUL in it.
    let name = |text: &str| (!text.is_empty() && !text.contains('\0')).then(|| MemoKey(text.into()));
    let name = members.needed_parsed("name", "a name without a NUL", name)?;
    let fingerprint = members.bytes("fingerprint", "64 hexadecimal digits")?;
    let status = members.needed_number("status")?;
    let body: Arc<[u8]> = match members.text("body")? {
        Some(text) => text.as_bytes().into(),
        None => members
            .parsed("body_hex", "hexadecimal digits", hex::read)?
            .ok_or(LineFault::Missing("body"))?
            .into(),
    };
    if !STATUS.contains(&status) {
        return Err(wrong("status", "a status of HTTP"));
    }
    let fingerprint = fingerprint.ok_or(LineFault::Missing("fingerprint"))?;
    Ok(Item::Memo(name, Kept { since, fingerprint, reply: Remembered { status, body } }))
}

fn read_end(members: &mut Members<'_>) -> Result<Seal, LineFault> {
    let census = Census::read(members)?;
    let sha256 = members.bytes("sha256", "64 hexadecimal digits")?;
    Ok(Seal { census, sha256: sha256.ok_or(LineFault::Missing("sha256"))? })
}
