//! Where a job stands, spread over columns.

use std::borrow::Cow;

use hapax_core::{Cause, JobId, Json, Lease, LeaseToken, Phase, State, Timestamp, WorkerId};

use super::{millis, span};

const FAILED: &str = "failed";
const LEASE_EXPIRED: &str = "lease_expired";
const EXPIRED: &str = "expired";

/// The columns that say where a job stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Columns<'p> {
    /// The start of a scheduled or retryable job, the end of a finished one.
    pub at: Option<i64>,
    /// The lease: its token,
    pub token: Option<[u8; 16]>,
    /// who holds it,
    pub worker: Option<Cow<'p, str>>,
    /// until when,
    pub deadline: Option<i64>,
    /// and by how much a heartbeat moves that.
    pub lease_ms: Option<i64>,
    /// When the attempt has run too long.
    pub times_out_at: Option<i64>,
    /// Cancelled: the state before; discarded: the cause; pending: the id of the job whose end it waits for.
    pub detail: Option<Cow<'p, str>>,
    /// Whether the dead-letter list shows it.
    pub dead_letter: bool,
    /// What the worker brought back.
    pub result: Option<Cow<'p, str>>,
}

/// A column that does not hold what the state needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Which one.
    pub column: &'static str,
    /// What is there instead.
    pub found: &'static str,
}

/// The columns of a phase.
pub fn write(phase: &Phase) -> Columns<'_> {
    let at = |at: &Timestamp| Columns { at: Some(at.millis()), ..Columns::default() };
    match phase {
        Phase::Scheduled { at: start } | Phase::Retryable { at: start } => at(start),
        Phase::Available { lapsed } => lapsed.as_ref().map_or_else(Columns::default, leased),
        Phase::Pending { after } => {
            Columns { detail: after.map(|id| Cow::Owned(id.to_string())), ..Columns::default() }
        }
        Phase::Active { lease, times_out_at } => {
            Columns { times_out_at: times_out_at.map(Timestamp::millis), ..leased(lease) }
        }
        Phase::Completed { at: end, result } => {
            Columns { result: result.as_ref().map(|json| Cow::Borrowed(json.as_str())), ..at(end) }
        }
        Phase::Cancelled { at: end, from } => Columns { detail: Some(Cow::Borrowed(from.name())), ..at(end) },
        Phase::Discarded { at: end, cause, dead_letter } => {
            let (detail, columns) = match cause {
                Cause::Failed => (FAILED, Columns::default()),
                Cause::LeaseExpired(lease) => (LEASE_EXPIRED, leased(lease)),
                Cause::Expired => (EXPIRED, Columns::default()),
            };
            let (at, detail) = (Some(end.millis()), Some(Cow::Borrowed(detail)));
            Columns { at, detail, dead_letter: *dead_letter, ..columns }
        }
    }
}

fn leased(lease: &Lease) -> Columns<'_> {
    let Lease { token, worker, deadline, length } = lease;
    Columns {
        token: Some(token.bytes()),
        worker: worker.as_ref().map(|worker| Cow::Borrowed(worker.as_str())),
        deadline: Some(deadline.millis()),
        lease_ms: Some(millis(*length)),
        ..Columns::default()
    }
}

/// The phase that the columns say.
pub fn read(state: State, columns: Columns<'_>) -> Result<Phase, Damage> {
    let lease = lease(&columns)?;
    let Columns { at, times_out_at, detail, dead_letter, result, .. } = columns;
    let at = || at.map(Timestamp::from_millis).ok_or(Damage { column: "at", found: "missing" });
    let no_lease = Damage { column: "token", found: "missing" };
    Ok(match state {
        State::Scheduled => Phase::Scheduled { at: at()? },
        State::Available => Phase::Available { lapsed: lease },
        State::Pending => Phase::Pending { after: detail.as_deref().map(predecessor).transpose()? },
        State::Active => Phase::Active {
            lease: lease.ok_or(no_lease)?,
            times_out_at: times_out_at.map(Timestamp::from_millis),
        },
        State::Retryable => Phase::Retryable { at: at()? },
        State::Completed => Phase::Completed { at: at()?, result: result.as_deref().map(Json::from_trusted) },
        State::Cancelled => {
            let from = detail.as_deref().and_then(|name| name.parse().ok());
            Phase::Cancelled { at: at()?, from: from.ok_or(Damage { column: "detail", found: "no state" })? }
        }
        State::Discarded => {
            let cause = match detail.as_deref() {
                Some(FAILED) => Cause::Failed,
                Some(EXPIRED) => Cause::Expired,
                Some(LEASE_EXPIRED) => Cause::LeaseExpired(lease.ok_or(no_lease)?),
                _ => return Err(Damage { column: "detail", found: "no cause" }),
            };
            Phase::Discarded { at: at()?, cause, dead_letter }
        }
    })
}

fn predecessor(text: &str) -> Result<JobId, Damage> {
    text.parse().map_err(|_| Damage { column: "detail", found: "no job id" })
}

fn lease(columns: &Columns<'_>) -> Result<Option<Lease>, Damage> {
    let Some(token) = columns.token else { return Ok(None) };
    let worker = columns.worker.as_deref();
    let worker =
        worker.map(|name| WorkerId::parse(name).ok_or(Damage { column: "worker", found: "no name" }));
    let deadline = columns.deadline.ok_or(Damage { column: "deadline", found: "missing" })?;
    let length = columns.lease_ms.ok_or(Damage { column: "lease_ms", found: "missing" })?;
    Ok(Some(Lease {
        token: LeaseToken::new(token),
        worker: worker.transpose()?,
        deadline: Timestamp::from_millis(deadline),
        length: span(length).map_err(|_| Damage { column: "lease_ms", found: "negative" })?,
    }))
}

#[cfg(test)]
mod tests;
