//! The order of the lines: what stands where, and nothing twice.

use std::collections::HashSet;

use hapax_core::{QueueName, Timestamp};

use super::LineFault;
use super::item::{Item, Queue};
use crate::desk::Numbered;
use crate::{EntryKey, MemoKey};

/// What came before.
#[derive(Debug, Default)]
pub(super) struct Order {
    queues: HashSet<QueueName>,
    last: Option<Last>,
}

/// The line before.
#[derive(Debug)]
enum Last {
    Queue(QueueName),
    Job(u64),
    Entry(EntryKey),
    Memo(Timestamp, MemoKey),
}

impl Order {
    /// Whether the item may stand there.
    pub(super) fn check(&mut self, item: &Item) -> Result<(), LineFault> {
        let next = match item {
            Item::Queue(Queue { name, .. }) => {
                self.queues.insert(name.clone());
                Last::Queue(name.clone())
            }
            Item::Job(stored) => {
                let Numbered { seq, job, .. } = &**stored;
                if !self.queues.contains(&job.spec.queue) {
                    return Err(LineFault::NoQueue(job.spec.queue.as_str().into()));
                }
                Last::Job(*seq)
            }
            Item::Entry(entry) => Last::Entry(entry.key.clone()),
            Item::Memo(key, kept) => Last::Memo(kept.since, key.clone()),
        };
        if let Some(last) = &self.last {
            last.precedes(&next)?;
        }
        self.last = Some(next);
        Ok(())
    }
}

impl Last {
    fn precedes(&self, next: &Last) -> Result<(), LineFault> {
        let (is_fine, rule) = match (self, next) {
            (Last::Queue(before), Last::Queue(after)) => {
                (before < after, "queues stand in the order of their names, each once")
            }
            (Last::Job(before), Last::Job(after)) => {
                (before < after, "jobs stand in the order of seq, each once")
            }
            (Last::Memo(since, key), Last::Memo(later, other)) => {
                ((since, key) < (later, other), "memos stand in the order of since and name, each once")
            }
            (Last::Entry(before), Last::Entry(after)) => (
                (before.register.name(), &before.name) < (after.register.name(), &after.name),
                "entries stand in the order of register and name, each once",
            ),
            (Last::Queue(_), _)
            | (Last::Job(_), Last::Entry(_) | Last::Memo(..))
            | (Last::Entry(_), Last::Memo(..)) => (true, ""),
            (Last::Job(_) | Last::Entry(_) | Last::Memo(..), _) => {
                (false, "queues come first, then jobs, then entries, then memos")
            }
        };
        if is_fine { Ok(()) } else { Err(LineFault::Place(rule)) }
    }
}
