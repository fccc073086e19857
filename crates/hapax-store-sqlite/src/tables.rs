//! The stored jobs as the writer sees them: tables, indexes and the group at work, as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hapax_core::limit::turn_behind;
use hapax_core::{Job, JobId, QueueName, Refusal, Rules, State, Timestamp};
use hapax_store::succession::takes_turn;
use hapax_store::{EntryKey, Happened, Outbox, Revision};
use rusqlite::Connection;
use rustc_hash::FxHashMap;

use crate::cache::Cache;
use crate::group::{Group, Slot};
use crate::index::{Facts, Index};
use crate::row::{self, Loader, Saver, Seq, Stored, Turn};
use crate::{Fault, schema};

/// Everything that an operation may look at or change. A change is in the indexes at once and in the tables
/// when the group is sealed. Nothing here is ever rolled back: an error stops the engine.
pub(crate) struct Tables<'c> {
    pub(crate) rules: Rules,
    pub(crate) index: Index,
    pub(crate) rows: Rows<'c>,
    pub(crate) last: Numbers,
    outbox: Arc<dyn Outbox>,
    /// Jobs that took turns since an operation began and share fairly, with what they drew.
    sharing: Vec<(JobId, Turn)>,
    /// How to take back what happened since an atomic section began; nothing outside of one.
    undo: Option<Undo>,
}

/// The numbers that were handed out last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) seq: Seq,
    pub(crate) turn: Turn,
    pub(crate) memo: Seq,
}

/// Jobs by number, wherever they are.
pub(crate) struct Rows<'c> {
    db: &'c Connection,
    pub(crate) loader: Loader<'c>,
    saver: Saver<'c>,
    in_transaction: bool,
    pub(crate) group: Group,
    cache: Cache,
}

/// What to take back. Of a job only what it was at first: in between it may have been many large things.
#[derive(Debug, Default)]
struct Undo {
    jobs: FxHashMap<Seq, (Option<Arc<Stored>>, Option<Slot>)>,
    queues: Vec<QueueName>,
    entries: BTreeMap<EntryKey, Revision>,
}

impl<'c> Tables<'c> {
    pub(crate) fn new(
        db: &'c Connection,
        rules: Rules,
        index: Index,
        last: Numbers,
        outbox: Arc<dyn Outbox>,
    ) -> Result<Tables<'c>, Fault> {
        let (loader, saver) = (Loader::new(db)?, Saver::new(db)?);
        let (group, cache) = (Group::default(), Cache::default());
        let rows = Rows { db, loader, saver, in_transaction: false, group, cache };
        Ok(Tables { rules, index, rows, last, outbox, sharing: Vec::new(), undo: None })
    }

    pub(crate) fn find(&mut self, id: JobId) -> Result<Option<Arc<Stored>>, Fault> {
        self.index.seq_of(id).map(|seq| self.rows.load(seq)).transpose()
    }

    /// Stores the job, new or in the place of what was stored under its id.
    pub(crate) fn put(&mut self, job: Job, now: Timestamp) -> Result<(), Fault> {
        let before = self.find(job.id)?;
        self.put_over(before, job, now);
        Ok(())
    }

    /// Stores the job in the place of what it was.
    pub(crate) fn put_over(&mut self, before: Option<Arc<Stored>>, job: Job, now: Timestamp) {
        let turn = match &before {
            Some(old) if !takes_turn(&old.job, &job) => old.turn,
            _ => {
                self.last.turn = turn_behind(self.last.turn.unsigned_abs()).cast_signed();
                if job.state() == State::Available && job.spec.fair_key().is_some() {
                    self.sharing.push((job.id, self.last.turn));
                }
                self.last.turn
            }
        };
        let seq = before.as_ref().map_or_else(
            || {
                self.last.seq += 1;
                self.last.seq
            },
            |before| before.seq,
        );
        // A job that stays where it was cannot need a new queue.
        if before.as_ref().is_none_or(|before| before.job.spec.queue != job.spec.queue) {
            self.make_queue(&job.spec.queue, now);
        }
        self.swap(seq, before, Some(Arc::new(Stored { seq, turn, job })));
    }

    /// Gives those their turns that share fairly, when all has happened that an operation does: so that it does not matter in
    /// which order it was done.
    pub(crate) fn share(&mut self) -> Result<(), Fault> {
        if self.sharing.is_empty() {
            return Ok(());
        }
        for (id, drawn) in std::mem::take(&mut self.sharing) {
            let Some(stored) = self.find(id)?.filter(|stored| stored.turn == drawn) else { continue };
            let Stored { seq, job, .. } = &*stored;
            let stand = Facts::of(&stored, &self.rules).stand();
            let (Some(key), Some(place)) = (job.spec.fair_key(), stand.place) else { continue };
            let turn = self.index.lines.fair_turn(stand.queue, key, place).cast_signed();
            if turn != drawn {
                let after = Arc::new(Stored { seq: *seq, turn, job: job.clone() });
                self.swap(after.seq, Some(stored), Some(after));
            }
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, before: Arc<Stored>) {
        self.swap(before.seq, Some(before), None);
    }

    /// Makes the queue unless it is there.
    pub(crate) fn make_queue(&mut self, name: &QueueName, now: Timestamp) {
        if self.index.make_queue(name, now) {
            self.rows.group.queues.insert(name.clone());
            self.undo.iter_mut().for_each(|undo| undo.queues.push(name.clone()));
        }
    }

    /// Does all of the work or, if it is refused, nothing. Numbers handed out meanwhile are not used again.
    pub(crate) fn atomically<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<Result<T, Refusal>, Fault>,
    ) -> Result<Result<T, Refusal>, Fault> {
        self.undo = Some(Undo::default());
        let result = work(self)?;
        let undo = self.undo.take().unwrap_or_default();
        if result.is_err() {
            self.take_back(undo);
        }
        Ok(result)
    }

    fn take_back(&mut self, undo: Undo) {
        for (seq, (before, slot)) in undo.jobs {
            let after = self.rows.group.get(seq).and_then(|slot| slot.after.clone());
            self.reindex(after.as_deref(), before.as_deref());
            self.rows.group.restore(seq, slot);
        }
        for name in undo.queues {
            self.index.forget_queue(&name);
            self.rows.group.queues.remove(&name);
        }
        for (key, before) in undo.entries {
            self.index.note_entry(&key, before.as_ref());
            self.rows.group.entries.insert(key, before);
        }
    }

    /// Notes what an entry said before an atomic section changed it.
    pub(crate) fn note_entry(&mut self, key: &EntryKey, before: Revision) {
        if let Some(undo) = &mut self.undo {
            undo.entries.entry(key.clone()).or_insert(before);
        }
    }

    /// Stores what others are to be told of what happened, in the same group. Their names are new, so nothing is looked up.
    pub(crate) fn keep_letters(&mut self, happened: Happened<'_>, now: Timestamp) {
        if self.outbox.is_open() {
            let letters = self.outbox.letters(happened, now).into_iter();
            self.rows.group.entries.extend(letters.map(|(key, written)| (key, Some(written))));
        }
    }

    /// The only function that changes a job: whatever is known about jobs follows from here.
    fn swap(&mut self, seq: Seq, before: Option<Arc<Stored>>, after: Option<Arc<Stored>>) {
        self.reindex(before.as_deref(), after.as_deref());
        let slot = self.rows.group.touch(seq, before.as_deref(), after);
        if let Some(undo) = &mut self.undo {
            undo.jobs.entry(seq).or_insert((before, slot));
        }
    }

    fn reindex(&mut self, before: Option<&Stored>, after: Option<&Stored>) {
        let before = before.map(|stored| Facts::of(stored, &self.rules));
        let after = after.map(|stored| Facts::of(stored, &self.rules));
        self.index.replace(before.as_ref(), after.as_ref());
    }

    /// Writes and commits the group. Whether there was anything to make durable.
    pub(crate) fn seal(&mut self) -> Result<bool, Fault> {
        let wrote = !self.rows.group.is_empty();
        if wrote {
            self.rows.begin()?;
            let Rows { db, saver, group, cache, .. } = &mut self.rows;
            group.write(db, saver, &self.index, cache)?;
        }
        self.rows.end()?;
        Ok(wrote)
    }

    /// Removes everything, within a group of its own.
    pub(crate) fn clear(&mut self) -> Result<(), Fault> {
        self.rows.begin()?;
        schema::clear(self.rows.db).map_err(Fault::of("clear the tables"))?;
        self.rows.end()?;
        self.rows.cache.clear();
        self.index.clear();
        Ok(())
    }
}

impl<'c> Rows<'c> {
    /// The job of that number, which an index knows. One that is damaged or has gone stops the process, now and
    /// whenever it is touched, and that is meant: nobody can say what to do with a job that cannot be read, and
    /// to pass over it would lose it. The fault names the table, the column and the `seq`, for a repair by hand.
    pub(crate) fn load(&mut self, seq: Seq) -> Result<Arc<Stored>, Fault> {
        let touched = self.group.get(seq).map(|slot| slot.after.as_ref());
        if let Some(stored) = touched.unwrap_or_else(|| self.cache.get(seq)) {
            return Ok(Arc::clone(stored));
        }
        self.begin()?;
        let stored = self.loader.load(seq)?.ok_or(Fault::Missing { table: "jobs", seq })?;
        let stored = Arc::new(stored);
        // An ended job is read to be compared or removed: kept, it would only push out what is waited for.
        if stored.job.phase.finished_at().is_none() {
            self.cache.insert(Arc::clone(&stored));
        }
        Ok(stored)
    }

    /// The connection, for reading inside the group's transaction.
    pub(crate) fn reading(&mut self) -> Result<&'c Connection, Fault> {
        self.begin()?;
        Ok(self.db)
    }

    /// One transaction per group, from the first look into the tables on: it saves taking locks per row.
    fn begin(&mut self) -> Result<(), Fault> {
        if !self.in_transaction {
            let begun = row::statement(self.db, "BEGIN IMMEDIATE")?.execute([]);
            begun.map_err(Fault::of("begin a transaction"))?;
            self.in_transaction = true;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.in_transaction) {
            row::statement(self.db, "COMMIT")?.execute([]).map_err(Fault::of("commit a transaction"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
