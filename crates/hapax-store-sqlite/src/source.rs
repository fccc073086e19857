//! A folder that is read from end to end while no server has it.

use std::fs::File;
use std::path::Path;

use hapax_store::desk::{Kept, Numbered};
use hapax_store::portable::{Census, ExportError, Item, Queue, Source};
use rusqlite::Connection;

use crate::folder;
use crate::memo::{self, KeptMemo};
use crate::row::{self, Stored};
use crate::{Fault, OpenError, checkpoint, entry, open, pragma, queue};

/// Everything in a folder. The folder is locked meanwhile.
#[derive(Debug)]
pub struct SqliteSource {
    db: Connection,
    _lock: File,
}

impl SqliteSource {
    /// Locks the folder, which has to be there, and changes nothing in it but for the recovery after a crash.
    pub fn open(dir: &Path) -> Result<SqliteSource, OpenError> {
        if !folder::has_database(dir)? {
            return Err(OpenError::Nothing(dir.into()));
        }
        let folder = folder::prepare(dir)?;
        let fault = |source| OpenError::Fault { path: folder.database.clone(), source };
        let db = open::connect(&folder.database).map_err(fault)?;
        open::check_format(&db, &folder)?;
        open::check_finished(&db, &folder)?;
        pragma::mover(&db).map_err(Fault::of("set a pragma")).map_err(fault)?;
        // What a crash left in the log is as good as what is in the file only once it is there.
        checkpoint::empty_log(&db).map_err(fault)?;
        Ok(SqliteSource { db, _lock: folder.lock })
    }
}

impl Source for SqliteSource {
    fn engine(&self) -> &'static str {
        "embedded"
    }

    fn census(&mut self) -> Result<Census, ExportError> {
        Ok(census(&self.db)?)
    }

    fn show(&mut self, take: &mut dyn FnMut(Item) -> Result<(), ExportError>) -> Result<(), ExportError> {
        let mut queues = Vec::new();
        queue::scan(&self.db, |name, queue| {
            let facts = queue.facts(&name);
            queues.push(Item::Queue(Queue { name, paused: facts.paused, created_at: facts.created_at }));
        })?;
        queues.into_iter().try_for_each(&mut *take)?;
        row::show_all(&self.db, |Stored { seq, turn, job }| {
            // Neither is ever negative.
            let (seq, turn) = (seq.unsigned_abs(), turn.unsigned_abs());
            take(Item::Job(Box::new(Numbered { seq, turn, job })))
        })?;
        if entry::is_there(&self.db)? {
            entry::show_all(&self.db, |entry| take(Item::Entry(entry)))?;
        }
        memo::show_all(&self.db, |KeptMemo { name, fingerprint, since, reply }| {
            take(Item::Memo(name, Kept { since, fingerprint, reply }))
        })
    }
}

/// Counts the rows. `status` stands for the jobs: its rows are the shorter half.
pub(crate) fn census(db: &Connection) -> Result<Census, Fault> {
    let count = |sql| -> Result<u64, Fault> {
        let number =
            db.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(Fault::of("count the rows"))?;
        Ok(number.unsigned_abs())
    };
    Ok(Census {
        queues: count("SELECT count(*) FROM queues")?,
        jobs: count("SELECT count(*) FROM status")?,
        entries: if entry::is_there(db)? { count("SELECT count(*) FROM entries")? } else { 0 },
        memos: count("SELECT count(*) FROM memos")?,
    })
}
