//! Reads of whole jobs, on threads and connections of their own: they never enter the writer.

mod jobs;
mod keys;
mod limits;

use std::io;
use std::sync::{Arc, RwLock};
use std::thread::{self, JoinHandle};

use hapax_core::{Job, JobId};
use hapax_store::{
    DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, LETTER_BYTES_MAX, Page, bytes_of,
};
use rusqlite::Connection;

use crate::inbox::Inbox;
use crate::index::{self, Listed, Visible};
use crate::progress::{Progress, Watchman};
use crate::row::{self, Loader};
use crate::{FatalError, Fault, entry};

pub(crate) use keys::Found;

/// How many reads may wait.
const READS_WAITING_MAX: usize = 1024;

/// A read that carries its own answer away.
pub(crate) type Read = Box<dyn FnOnce(&mut View<'_>) + Send>;

/// One reader's look into the tables.
pub(crate) struct View<'c> {
    db: &'c Connection,
    loader: Loader<'c>,
}

/// The threads, and the way to them.
pub(crate) struct Readers {
    threads: Vec<JoinHandle<()>>,
    inbox: Arc<Inbox<Read>>,
}

impl Readers {
    pub(crate) fn start(connections: Vec<Connection>, progress: &Arc<Progress>) -> io::Result<Readers> {
        let inbox = Arc::new(Inbox::<Read>::new(READS_WAITING_MAX));
        let start = |db: Connection| {
            let (inbox, progress) = (Arc::clone(&inbox), Arc::clone(progress));
            let work = move || {
                let _watchman = Watchman { thread: "read", progress: Arc::clone(&progress) };
                if let Err(fault) = run(&db, &inbox) {
                    progress.fail(&FatalError::Fault(fault));
                }
            };
            thread::Builder::new().name("hapax-read".into()).spawn(work)
        };
        let threads = connections.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Readers { threads, inbox })
    }

    pub(crate) fn inbox(&self) -> Arc<Inbox<Read>> {
        Arc::clone(&self.inbox)
    }

    /// Waits for the threads and lets go of their connections.
    pub(crate) fn finish(self) {
        self.inbox.close();
        // A panic there has stopped the engine already.
        self.threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

fn run(db: &Connection, inbox: &Inbox<Read>) -> Result<(), Fault> {
    let mut view = View { db, loader: Loader::new(db)? };
    while let Some(reads) = inbox.take(|_| false) {
        for read in reads {
            read(&mut view);
        }
    }
    Ok(())
}

impl View<'_> {
    pub(crate) fn job(&mut self, visible: &RwLock<Visible>, id: JobId) -> Result<Option<Job>, Fault> {
        let Some(seq) = index::read(visible).seq_of(id) else { return Ok(None) };
        // Nothing there: the job is not committed yet, or not any longer.
        self.at_one_moment(|loader| Ok(loader.load(seq)?.map(|stored| stored.job).filter(|job| job.id == id)))
    }

    pub(crate) fn dead_letters(
        &mut self,
        visible: &RwLock<Visible>,
        query: &DeadLetterQuery,
    ) -> Result<Page<Job>, Fault> {
        let Listed { seqs, total, mut has_more } = index::read(visible).dead_letters(query);
        let (mut items, mut bytes) = (Vec::with_capacity(seqs.len()), 0);
        self.at_one_moment(|loader| {
            for seq in seqs {
                if bytes >= LETTER_BYTES_MAX {
                    has_more = true;
                    break;
                }
                // The list runs ahead of the tables: what is not a dead letter there yet is left out.
                let job = loader.load(seq)?.map(|stored| stored.job);
                let letter = job.filter(|job| job.phase.is_dead_letter());
                bytes += letter.as_ref().map_or(0, bytes_of);
                items.extend(letter);
            }
            Ok(())
        })?;
        Ok(Page { items, total, has_more })
    }

    pub(crate) fn entry(&mut self, key: &EntryKey) -> Result<Option<Entry>, Fault> {
        entry::load(self.db, key)
    }

    pub(crate) fn entries(&mut self, query: &EntryQuery) -> Result<EntryPage, Fault> {
        let db = self.db;
        self.at_one_moment(|_| entry::page(db, query))
    }

    /// Both halves of a job must be of the same moment.
    fn at_one_moment<T>(
        &mut self,
        work: impl FnOnce(&mut Loader<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let db = self.db;
        let control = |sql| row::statement(db, sql)?.execute([]).map_err(Fault::of("begin or end a read"));
        let result = control("BEGIN").and_then(|_| work(&mut self.loader));
        let result = result.and_then(|found| control("COMMIT").map(|_| found));
        // Whatever failed, the moment ends here: kept open, it would fail every later read of this connection
        // and hold back checkpoints.
        if !db.is_autocommit() {
            control("ROLLBACK")?;
        }
        result
    }
}

#[cfg(test)]
mod tests;
