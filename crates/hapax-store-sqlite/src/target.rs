//! A folder without jobs that takes over what another store held.

use std::fs::File;
use std::path::Path;

use hapax_store::Entry;
use hapax_store::desk::{Kept, Numbered};
use hapax_store::portable::{Census, ImportError, Item, Mark, Queue, Target};
use rusqlite::{Connection, OptionalExtension as _};

use crate::memo::{self, KeptMemo};
use crate::row::{Saver, Seq, Stored};
use crate::{Fault, OpenError, checkpoint, entry, folder, mark, open, pragma, queue, schema, source};

const ID_TWICE: &str = "SELECT lower(hex(id)) FROM jobs GROUP BY id HAVING count(*) > 1 LIMIT 1";
const NAME_TWICE: &str = "SELECT name FROM memos GROUP BY name HAVING count(*) > 1 LIMIT 1";

/// A folder that an import fills. It is locked meanwhile.
#[derive(Debug)]
pub struct SqliteTarget {
    db: Connection,
    begun: Option<Mark>,
    /// The number of the memo that was stored last.
    last_memo: Seq,
    _lock: File,
}

impl SqliteTarget {
    /// Locks the folder, which is made if it is not there. What holds anything but the first part of an import is
    /// refused.
    pub fn open(dir: &Path) -> Result<SqliteTarget, OpenError> {
        let folder = folder::prepare(dir)?;
        let fault = |source| OpenError::Fault { path: folder.database.clone(), source };
        let db = open::connect(&folder.database).map_err(fault)?;
        open::check_format(&db, &folder)?;
        let begun = mark::read(&db).map_err(fault)?;
        let held = source::census(&db).map_err(fault)?;
        if begun.is_none() && held != Census::default() {
            return Err(OpenError::NotEmpty { path: folder.database, held });
        }
        pragma::mover(&db).map_err(Fault::of("set a pragma")).map_err(fault)?;
        checkpoint::empty_log(&db).map_err(fault)?;
        schema::complete(&db).map_err(Fault::of("add a table")).map_err(fault)?;
        schema::count_start(&db).map_err(Fault::of("write the first row")).map_err(fault)?;
        let last_memo = i64::try_from(held.memos).unwrap_or(i64::MAX);
        Ok(SqliteTarget { db, begun, last_memo, _lock: folder.lock })
    }

    /// All of it, or nothing.
    fn transaction(
        &mut self,
        work: impl FnOnce(&Connection, &mut Seq) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let transaction = self.db.transaction().map_err(Fault::of("begin a transaction"))?;
        work(&transaction, &mut self.last_memo)?;
        Ok(transaction.commit().map_err(Fault::of("commit a transaction"))?)
    }
}

impl Target for SqliteTarget {
    fn begun(&self) -> Option<Mark> {
        self.begun
    }

    fn begin(&mut self, mark: Mark) -> Result<(), ImportError> {
        self.transaction(|db, _| Ok(mark::write(db, mark)?))?;
        self.begun = Some(mark);
        Ok(())
    }

    fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError> {
        self.transaction(|db, last_memo| {
            let mut saver = Saver::new(db)?;
            for item in items {
                insert(db, &mut saver, last_memo, item)?;
            }
            Ok(mark::write(db, mark)?)
        })
    }

    fn finish(&mut self, _: Census) -> Result<(), ImportError> {
        self.transaction(|db, _| {
            // The tables have no index that would have noticed.
            for (what, sql) in [("job", ID_TWICE), ("memo", NAME_TWICE)] {
                let twice: Option<String> = db
                    .query_row(sql, [], |row| row.get(0))
                    .optional()
                    .map_err(Fault::of("look for what is there twice"))?;
                if let Some(name) = twice {
                    return Err(ImportError::Twice { what, name: name.into() });
                }
            }
            Ok(mark::remove(db)?)
        })?;
        Ok(checkpoint::empty_log(&self.db)?)
    }
}

fn insert(db: &Connection, saver: &mut Saver<'_>, last_memo: &mut Seq, item: Item) -> Result<(), Fault> {
    match item {
        Item::Queue(Queue { name, paused, created_at }) => queue::put(db, &name, paused, created_at),
        Item::Job(stored) => {
            let Numbered { seq, turn, job } = *stored;
            // Both are less than 2^62.
            let place = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            saver.insert(&Stored { seq: place(seq), turn: place(turn), job })
        }
        Item::Entry(Entry { key, written }) => entry::write(db, &key, &Some(written)),
        Item::Memo(name, Kept { since, fingerprint, reply }) => {
            *last_memo += 1;
            memo::insert(db, *last_memo, &KeptMemo { name, fingerprint, since, reply })
        }
    }
}
