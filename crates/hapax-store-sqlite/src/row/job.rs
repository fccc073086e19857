//! The `jobs` table: what the client asked for.

use hapax_core::unique::Key;
use hapax_core::{Job, JobType, Json, Priority, QueueName, Spec};
use hapax_store::record::{options, policy};
use rusqlite::{Row, ToSql};

use super::cells::Cells;
use super::pen::Pen;
use super::{Body, Stored};
use crate::Fault;

pub(super) const TABLE: &str = "jobs";

const COLUMNS: &[&str] = &[
    "seq",
    "id",
    "type",
    "queue",
    "priority",
    "created_at",
    "key",
    "policy",
    "options",
    "args",
    "meta",
    "extra",
];

/// How many there are.
pub(super) const CELLS: usize = COLUMNS.len();

pub(super) const SELECT: &str = "SELECT seq, id, type, queue, priority, created_at, key, policy, options, \
     args, meta, extra FROM jobs WHERE seq = ?1";
/// The large columns come last in the table, so their pages are not even read.
pub(super) const SCAN: &str = "SELECT seq, id, type, queue, priority, created_at, key, policy, options, \
     'null', NULL, NULL FROM jobs ORDER BY seq";
/// Everything there is, for whoever carries it elsewhere.
pub(super) const ALL: &str = "SELECT seq, id, type, queue, priority, created_at, key, policy, options, \
     args, meta, extra FROM jobs ORDER BY seq";
pub(super) const DELETE: &str = "DELETE FROM jobs WHERE seq = ?1";
pub(super) const INSERT: &str = "INSERT INTO jobs (seq, id, type, queue, priority, created_at, key, policy, \
     options, args, meta, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
pub(super) const UPDATE: &str = "UPDATE jobs SET id = ?2, type = ?3, queue = ?4, priority = ?5, \
     created_at = ?6, key = ?7, policy = ?8, options = ?9, args = ?10, meta = ?11, extra = ?12 \
     WHERE seq = ?1";

pub(super) fn write(pen: &mut Pen<'_, CELLS>, stored: &Stored) -> Result<(), Fault> {
    let Stored { seq, turn: _, job } = stored;
    let Job {
        id,
        spec,
        key,
        created_at,
        // What became of the job is the business of `status`.
        enqueued_at: _,
        activated_at: _,
        started_at: _,
        attempt: _,
        fence: _,
        phase: _,
        history: _,
        retry_delay: _,
        ledger: _,
        reentered_beside: _,
        released: _,
        first_start: _,
        progress: _,
        checkpoint: _,
        begun_at: _,
    } = job;
    let Spec { kind, queue, priority, args, meta, unique, extra, .. } = &**spec;
    let cells: [&dyn ToSql; CELLS] = [
        seq,
        &id.bytes().as_slice(),
        &kind.as_str(),
        &queue.as_str(),
        &priority.get(),
        &created_at.millis(),
        &key.as_ref().map(|key| key.bytes().as_slice()),
        &unique.as_ref().map(policy::write),
        // Takes `Spec` apart without `..`.
        &options::write(spec),
        &args.as_str(),
        &unless_empty(meta),
        &unless_empty(extra),
    ];
    pen.write(cells).map_err(Fault::of("write a row of jobs"))
}

fn unless_empty(json: &Json) -> Option<&str> {
    Some(json.as_str()).filter(|text| *text != "{}")
}

pub(super) fn read(row: &Row<'_>) -> Result<Body, Fault> {
    let cells = Cells::new(row, TABLE, COLUMNS)?;
    let json = |text: Option<&str>| text.map_or_else(Json::empty_object, Json::from_trusted);
    let options = options::read(cells.optional_text(8)?).map_err(|_| cells.damaged(8, "not its JSON"))?;
    let unique = cells
        .optional_text(7)?
        .map(policy::read)
        .transpose()
        .map_err(|_| cells.damaged(7, "not its JSON"))?;
    let spec = options.with(options::Columns {
        kind: JobType::parse(cells.text(2)?).map_err(|_| cells.damaged(2, "no job type"))?,
        queue: QueueName::parse(cells.text(3)?).map_err(|_| cells.damaged(3, "no queue name"))?,
        priority: Priority::new(cells.int(4)?).map_err(|_| cells.damaged(4, "out of range"))?,
        unique,
        args: Json::from_trusted(cells.text(9)?),
        meta: json(cells.optional_text(10)?),
        extra: json(cells.optional_text(11)?),
    });
    Ok(Body {
        seq: cells.seq,
        id: cells.optional_id(1)?.ok_or_else(|| cells.damaged(1, "missing"))?,
        key: cells.optional_bytes(6)?.map(Key::from_bytes),
        created_at: cells.time(5)?,
        spec,
    })
}
