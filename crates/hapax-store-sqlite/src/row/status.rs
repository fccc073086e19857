//! The `status` table: what became of a job.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::{Cause, History, Job, JobId, Json, Lease, LeaseToken, Phase, State, Timestamp, WorkerId};
use rusqlite::{Row, Statement, ToSql};

use super::cells::{Cells, millis};
use super::failure::{read_history, write_history};
use super::ledger::Holding;
use super::{Body, Seq, Stored, Turn, ledger};
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

pub(super) const SELECT: &str = "SELECT seq, state, turn, attempt, fence, at, enqueued_at, activated_at, \
     started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, retry_ms, \
     reentered_beside, result, errors, ledger FROM status WHERE seq = ?1";
/// The large columns come last in the table, so their pages are not even read.
pub(super) const SCAN: &str = "SELECT seq, state, turn, attempt, fence, at, enqueued_at, activated_at, \
     started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, retry_ms, \
     reentered_beside, NULL, NULL, NULL FROM status ORDER BY seq";
pub(super) const DELETE: &str = "DELETE FROM status WHERE seq = ?1";
pub(super) const INSERT: &str = "INSERT INTO status (seq, state, turn, attempt, fence, at, enqueued_at, \
     activated_at, started_at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, \
     retry_ms, reentered_beside, result, errors, ledger) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";
pub(super) const UPDATE: &str = "UPDATE status SET state = ?2, turn = ?3, attempt = ?4, fence = ?5, at = ?6, \
     enqueued_at = ?7, activated_at = ?8, started_at = ?9, token = ?10, worker = ?11, deadline = ?12, \
     lease_ms = ?13, times_out_at = ?14, detail = ?15, dead_letter = ?16, retry_ms = ?17, \
     reentered_beside = ?18, result = ?19, errors = ?20, ledger = ?21 WHERE seq = ?1";

const FAILED: &str = "failed";
const LEASE_EXPIRED: &str = "lease_expired";
const EXPIRED: &str = "expired";

/// The facts of a phase, spread over columns.
#[derive(Default)]
struct Facts<'p> {
    at: Option<Timestamp>,
    lease: Option<&'p Lease>,
    times_out_at: Option<Timestamp>,
    detail: Option<Cow<'static, str>>,
    dead_letter: bool,
    result: Option<&'p Json>,
}

fn facts(phase: &Phase) -> Facts<'_> {
    match phase {
        Phase::Scheduled { at } | Phase::Retryable { at } => Facts { at: Some(*at), ..Facts::default() },
        Phase::Available { lapsed } => Facts { lease: lapsed.as_ref(), ..Facts::default() },
        Phase::Pending { after } => {
            Facts { detail: after.map(|id| Cow::Owned(id.to_string())), ..Facts::default() }
        }
        Phase::Active { lease, times_out_at } => {
            Facts { lease: Some(lease), times_out_at: *times_out_at, ..Facts::default() }
        }
        Phase::Completed { at, result } => {
            Facts { at: Some(*at), result: result.as_ref(), ..Facts::default() }
        }
        Phase::Cancelled { at, from } => {
            Facts { at: Some(*at), detail: Some(Cow::Borrowed(from.name())), ..Facts::default() }
        }
        Phase::Discarded { at, cause, dead_letter } => {
            let (detail, lease) = match cause {
                Cause::Failed => (FAILED, None),
                Cause::LeaseExpired(lease) => (LEASE_EXPIRED, Some(lease)),
                Cause::Expired => (EXPIRED, None),
            };
            let (at, detail, dead_letter) = (Some(*at), Some(Cow::Borrowed(detail)), *dead_letter);
            Facts { at, lease, detail, dead_letter, ..Facts::default() }
        }
    }
}

pub(super) fn write(statement: &mut Statement<'_>, stored: &Stored) -> Result<(), Fault> {
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
    } = job;
    let Facts { at, lease, times_out_at, detail, dead_letter, result } = facts(phase);
    let token = lease.map(|lease| lease.token.bytes());
    let moment = |at: Option<Timestamp>| at.map(Timestamp::millis);
    let cells: [&dyn ToSql; 21] = [
        seq,
        &phase.state().name(),
        turn,
        attempt,
        // A job delivered 2^63 times would be the first.
        &i64::try_from(*fence).unwrap_or(i64::MAX),
        &moment(at),
        &moment(*enqueued_at),
        &moment(*activated_at),
        &moment(*started_at),
        &token.as_ref().map(<[u8; 16]>::as_slice),
        &lease.and_then(|lease| lease.worker.as_ref()).map(WorkerId::as_str),
        &lease.map(|lease| lease.deadline.millis()),
        &lease.map(|lease| millis(lease.length)),
        &moment(times_out_at),
        &detail.as_deref(),
        &dead_letter.then_some(1),
        &retry_delay.map(millis),
        &reentered_beside.as_ref().map(|id| id.bytes().as_slice()),
        &result.map(Json::as_str),
        &write_history(history),
        &ledger::write(ledger, released.as_ref(), *first_start),
    ];
    statement.execute(cells.as_slice()).map_err(Fault::of("write a row of status")).map(drop)
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
        history: read_history(cells.optional_text(19)?).map_err(|_| cells.damaged(19, "not its JSON"))?,
        holding: ledger::read(cells.optional_text(20)?).map_err(|_| cells.damaged(20, "not its JSON"))?,
    })
}

fn read_phase(cells: &Cells<'_>) -> Result<Phase, Fault> {
    let state: State = cells.text(1)?.parse().map_err(|_| cells.damaged(1, "no state"))?;
    let at = || cells.time(5);
    Ok(match state {
        State::Scheduled => Phase::Scheduled { at: at()? },
        State::Available => Phase::Available { lapsed: read_lease(cells)? },
        State::Pending => Phase::Pending { after: read_predecessor(cells)? },
        State::Active => Phase::Active {
            lease: read_lease(cells)?.ok_or_else(|| cells.damaged(9, "missing"))?,
            times_out_at: cells.optional_time(13)?,
        },
        State::Retryable => Phase::Retryable { at: at()? },
        State::Completed => {
            Phase::Completed { at: at()?, result: cells.optional_text(18)?.map(Json::from_trusted) }
        }
        State::Cancelled => {
            let from = cells.text(14)?.parse().map_err(|_| cells.damaged(14, "no state"))?;
            Phase::Cancelled { at: at()?, from }
        }
        State::Discarded => Phase::Discarded {
            at: at()?,
            cause: read_cause(cells)?,
            dead_letter: cells.optional_int(15)?.is_some(),
        },
    })
}

fn read_predecessor(cells: &Cells<'_>) -> Result<Option<JobId>, Fault> {
    let id = |text: &str| text.parse().map_err(|_| cells.damaged(14, "no job id"));
    cells.optional_text(14)?.map(id).transpose()
}

fn read_cause(cells: &Cells<'_>) -> Result<Cause, Fault> {
    match cells.text(14)? {
        FAILED => Ok(Cause::Failed),
        EXPIRED => Ok(Cause::Expired),
        LEASE_EXPIRED => {
            read_lease(cells)?.map(Cause::LeaseExpired).ok_or_else(|| cells.damaged(9, "missing"))
        }
        _ => Err(cells.damaged(14, "no cause")),
    }
}

fn read_lease(cells: &Cells<'_>) -> Result<Option<Lease>, Fault> {
    let Some(token) = cells.optional_bytes(9)? else { return Ok(None) };
    let worker = cells
        .optional_text(10)?
        .map(|name| WorkerId::parse(name).ok_or_else(|| cells.damaged(10, "no name")));
    Ok(Some(Lease {
        token: LeaseToken::new(token),
        worker: worker.transpose()?,
        deadline: cells.time(11)?,
        length: cells.optional_span(12)?.ok_or_else(|| cells.damaged(12, "missing"))?,
    }))
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
            holding: Holding { ledger, released, first_start },
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
        };
        Stored { seq, turn, job }
    }
}
