//! The indexes, built from the tables by one scan.

use hapax_core::Rules;
use rusqlite::Connection;

use crate::index::{Facts, Index};
use crate::tables::Numbers;
use crate::{Fault, entry, memo, queue, row};

/// Reads everything once but what can be large.
pub(crate) fn rebuild(db: &Connection, rules: &Rules) -> Result<(Index, Numbers), Fault> {
    let (mut index, mut last) = (Index::default(), Numbers::default());
    queue::scan(db, |name, queue| index.put_queue(name, queue))?;
    memo::scan(db, |name, known| {
        last.memo = known.seq;
        index.memos.insert(name, known);
    })?;
    entry::scan_known(db, |entry| index.note_entry(&entry.key, Some(&entry.written)))?;
    row::scan(db, |stored| {
        last.seq = stored.seq;
        last.turn = last.turn.max(stored.turn);
        if index.queue_facts(&stored.job.spec.queue).is_none() {
            return Err(Fault::Orphan { table: "jobs", other: "queues", seq: stored.seq });
        }
        index.replace(None, Some(&Facts::of(&stored, rules)));
        Ok(())
    })?;
    Ok((index, last))
}
