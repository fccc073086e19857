//! The `queues` table.

use hapax_core::{QueueName, Timestamp};
use rusqlite::Connection;

use crate::Fault;
use crate::index::{Index, Queue};
use crate::row::statement;

const PUT: &str = "INSERT INTO queues (name, paused, created_at) VALUES (?1, ?2, ?3) \
     ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, created_at = excluded.created_at";
const DELETE: &str = "DELETE FROM queues WHERE name = ?1";
const SCAN: &str = "SELECT rowid, name, paused, created_at FROM queues ORDER BY name";

/// Writes what the index knows of the queue, or removes the row of one that it does not know.
pub(crate) fn write(db: &Connection, index: &Index, name: &QueueName) -> Result<(), Fault> {
    if let Some(facts) = index.queue_facts(name) {
        return put(db, name, facts.paused, facts.created_at);
    }
    let removed = statement(db, DELETE)?.execute([name.as_str()]);
    removed.map_err(Fault::of("remove a row of queues")).map(drop)
}

pub(crate) fn put(
    db: &Connection,
    name: &QueueName,
    paused: bool,
    created_at: Timestamp,
) -> Result<(), Fault> {
    let cells = (name.as_str(), paused, created_at.millis());
    statement(db, PUT)?.execute(cells).map_err(Fault::of("write a row of queues")).map(drop)
}

/// Shows every queue, by the bytes of its name.
pub(crate) fn scan(db: &Connection, mut show: impl FnMut(QueueName, Queue)) -> Result<(), Fault> {
    let failed = Fault::of("scan queues");
    let mut queues = db.prepare(SCAN).map_err(&failed)?;
    let mut rows = queues.query([]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let cells = crate::row::cells::Cells::new(row, "queues", &["rowid", "name", "paused", "created_at"])?;
        let name = QueueName::parse(cells.text(1)?).map_err(|_| cells.damaged(1, "no queue name"))?;
        let created_at: Timestamp = cells.time(3)?;
        show(name, Queue::stored(cells.int(2)? != 0, created_at));
    }
    Ok(())
}
