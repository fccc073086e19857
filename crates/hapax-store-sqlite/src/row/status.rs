//! The `status` table: what became of a job.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::{History, Job, JobId, Phase, State, Timestamp};
use hapax_store::record::ledger::{self, Held, Holding};
use hapax_store::record::phase::{self, Damage};
use hapax_store::record::{failures, millis};
use rusqlite::{Row, ToSql};

use super::cells::Cells;
use super::pen::Pen;
use super::{Body, Seq, Stored, Turn};
use crate::Fault;

pub(super) const TABLE: &str = "status";

const COLUMNS: &[&str] = &[
    "seq",
    "state",
    "turn",
    "attempt",
    "fence",
    "at",
    "enqueued_at",
    "activated_at",
    "started_at",
    "token",
    "worker",
    "deadline",
    "lease_ms",
    "times_out_at",
    "detail",
    "dead_letter",
    "retry_ms",
    "reentered_beside",
    "result",
    "errors",
    "ledger",
];

/// How many there are.
pub(super) const CELLS: usize = COLUMNS.len();

pub(super) const SELECT: &str = "SELECT seq, state, turn, attempt, fence, at, enqueued_at, activated_at, \
     started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, retry_ms, \
     reentered_beside, result, errors, ledger FROM status WHERE seq = ?1";
/// The large columns come last in the table, so their pages are not even read; but from when the limits on the time of
/// a job count is part of when it is due.
pub(super) const SCAN: &str = "SELECT seq, state, turn, attempt, fence, at, enqueued_at, activated_at, \
     started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, retry_ms, \
     reentered_beside, NULL, NULL, \
     CASE WHEN state NOT IN ('completed', 'cancelled', 'discarded') AND ledger IS NOT NULL \
         THEN json_object('begun_at', ledger ->> '$.begun_at') END \
     FROM status ORDER BY seq";
/// Everything there is, for whoever carries it elsewhere.
pub(super) const ALL: &str = "SELECT seq, state, turn, attempt, fence, at, enqueued_at, activated_at, \
     started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, retry_ms, \
     reentered_beside, result, errors, ledger FROM status ORDER BY seq";
pub(super) const DELETE: &str = "DELETE FROM status WHERE seq = ?1";
pub(super) const INSERT: &str = "INSERT INTO status (seq, state, turn, attempt, fence, at, enqueued_at, \
     activated_at, started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, \
     retry_ms, reentered_beside, result, errors, ledger) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";
pub(super) const UPDATE: &str = "UPDATE status SET state = ?2, turn = ?3, attempt = ?4, fence = ?5, at = ?6, \
     enqueued_at = ?7, activated_at = ?8, started_at = ?9, token = ?10, worker = ?11, deadline = ?12, \
     lease_ms = ?13, times_out_at = ?14, detail = ?15, dead_letter = ?16, retry_ms = ?17, \
     reentered_beside = ?18, result = ?19, errors = ?20, ledger = ?21 WHERE seq = ?1";

pub(super) fn write(pen: &mut Pen<'_, CELLS>, stored: &Stored) -> Result<(), Fault> {
    let Stored { seq, turn, job } = stored;
    let Job {
        // What the client asked for is the business of `jobs`.
        id: _,
        spec: _,
        key: _,
        created_at: _,
        enqueued_at,
        activated_at,
        started_at,
        attempt,
        fence,
        phase,
        history,
        retry_delay,
        ledger,
        reentered_beside,
        released,
        first_start,
        progress,
        checkpoint,
        begun_at,
    } = job;
    let state = phase.state().name();
    let phase::Columns { at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, result } =
        phase::write(phase);
    let moment = |at: Option<Timestamp>| at.map(Timestamp::millis);
    let held = Held {
        ledger,
        released: released.as_ref(),
        first_start: *first_start,
        progress: progress.as_ref(),
        checkpoint: checkpoint.as_ref(),
        begun_at: *begun_at,
    };
    let cells: [&dyn ToSql; CELLS] = [
        seq,
        &state,
        turn,
        attempt,
        // A job delivered 2^63 times would be the first.
        &i64::try_from(*fence).unwrap_or(i64::MAX),
        &at,
        &moment(*enqueued_at),
        &moment(*activated_at),
        &moment(*started_at),
        &token.as_ref().map(<[u8; 16]>::as_slice),
        &worker.as_deref(),
        &deadline,
        &lease_ms,
        &times_out_at,
        &detail.as_deref(),
        &dead_letter.then_some(1),
        &retry_delay.map(millis),
        &reentered_beside.as_ref().map(|id| id.bytes().as_slice()),
        &result.as_deref(),
        &failures::write(history),
        &ledger::write(held),
    ];
    pen.write(cells).map_err(Fault::of("write a row of status"))
}

/// A row of the table, read.
pub(super) struct Status {
    pub(super) seq: Seq,
    turn: Turn,
    attempt: u32,
    fence: u64,
    enqueued_at: Option<Timestamp>,
    activated_at: Option<Timestamp>,
    started_at: Option<Timestamp>,
    phase: Phase,
    retry_delay: Option<Duration>,
    reentered_beside: Option<JobId>,
    history: History,
    holding: Holding,
}

pub(super) fn read(row: &Row<'_>) -> Result<Status, Fault> {
    let cells = Cells::new(row, TABLE, COLUMNS)?;
    Ok(Status {
        seq: cells.seq,
        turn: cells.int(2)?,
        attempt: cells.number(3)?,
        fence: cells.number(4)?,
        enqueued_at: cells.optional_time(6)?,
        activated_at: cells.optional_time(7)?,
        started_at: cells.optional_time(8)?,
        phase: read_phase(&cells)?,
        retry_delay: cells.optional_span(16)?,
        reentered_beside: cells.optional_id(17)?,
        history: failures::read(cells.optional_text(19)?).map_err(|_| cells.damaged(19, "not its JSON"))?,
        holding: ledger::read(cells.optional_text(20)?).map_err(|_| cells.damaged(20, "not its JSON"))?,
    })
}

fn read_phase(cells: &Cells<'_>) -> Result<Phase, Fault> {
    let state: State = cells.text(1)?.parse().map_err(|_| cells.damaged(1, "no state"))?;
    let columns = phase::Columns {
        at: cells.optional_int(5)?,
        token: cells.optional_bytes(9)?,
        worker: cells.optional_text(10)?.map(Cow::Borrowed),
        deadline: cells.optional_int(11)?,
        lease_ms: cells.optional_int(12)?,
        times_out_at: cells.optional_int(13)?,
        detail: cells.optional_text(14)?.map(Cow::Borrowed),
        dead_letter: cells.optional_int(15)?.is_some(),
        result: cells.optional_text(18)?.map(Cow::Borrowed),
    };
    phase::read(state, columns).map_err(|Damage { column, found }| cells.damaged_by_name(column, found))
}

impl Status {
    /// The whole job.
    pub(super) fn with(self, body: Body) -> Stored {
        let Body { seq, id, key, created_at, spec } = body;
        let Status {
            seq: own_seq,
            turn,
            attempt,
            fence,
            enqueued_at,
            activated_at,
            started_at,
            phase,
            retry_delay,
            reentered_beside,
            history,
            holding: Holding { ledger, released, first_start, progress, checkpoint, begun_at },
        } = self;
        debug_assert_eq!(seq, own_seq, "two halves of one job");
        let job = Job {
            id,
            spec: Arc::new(spec),
            key,
            created_at,
            enqueued_at,
            activated_at,
            started_at,
            attempt,
            fence,
            phase,
            history,
            retry_delay,
            ledger,
            reentered_beside,
            released,
            first_start,
            progress,
            checkpoint,
            begun_at,
        };
        Stored { seq, turn, job }
    }
}
