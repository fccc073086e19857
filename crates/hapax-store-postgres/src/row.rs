//! Rows: the shape in which a job lies in the table, and the way there and back.

mod columns;
mod sheet;

use std::borrow::Cow;
use std::sync::Arc;

use hapax_core::unique::Key;
use hapax_core::{Job, JobId, JobType, Json, Priority, QueueName, State, Timestamp};
use hapax_store::desk::Numbered;
use hapax_store::record::ledger::Holding;
use hapax_store::record::phase::Damage;
use hapax_store::record::{self, failures, ledger, options, phase, policy};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use crate::Fault;

pub(crate) use sheet::{Part, Shape, Sheet};

/// What [`read`] expects, in this order, from some column on.
pub(crate) const COLUMNS: &str = "j.id, j.seq, j.turn, j.type, j.queue, j.priority, j.created_at, j.key, \
     j.policy::text, j.options::text, j.args::text, j.meta::text, j.extra::text, j.state::text, j.attempt, j.fence, \
     j.at, j.enqueued_at, j.activated_at, j.started_at, j.token, j.worker, j.deadline, j.lease_ms, j.times_out_at, \
     j.detail, j.after, j.dead_letter, j.retry_ms, j.reentered_beside, j.result::text, j.errors::text, j.ledger::text";

/// The id of a job as the database has it.
pub(crate) fn uuid(id: JobId) -> Uuid {
    Uuid::from_bytes(*id.bytes())
}

/// The cells of a row, read so that a damaged one is named.
struct Cells<'r> {
    row: &'r Row,
    first: usize,
    id: Uuid,
}

impl<'r> Cells<'r> {
    fn damaged(&self, column: &'static str, found: &'static str) -> Fault {
        Fault::Damaged { column, id: self.id, found }
    }

    fn get<T: FromSql<'r>>(&self, column: usize) -> Result<T, Fault> {
        self.row.try_get(self.first + column).map_err(Fault::of("read a cell"))
    }

    /// A text of ours, as it was written.
    fn text<T>(
        &self,
        column: usize,
        name: &'static str,
        read: impl FnOnce(Option<&str>) -> Result<T, record::Unreadable>,
    ) -> Result<T, Fault> {
        read(self.get(column)?).map_err(|_| self.damaged(name, "not its JSON"))
    }

    fn time(&self, column: usize) -> Result<Option<Timestamp>, Fault> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp::from_millis))
    }

    fn number<T: TryFrom<i64>>(&self, value: i64, name: &'static str) -> Result<T, Fault> {
        value.try_into().map_err(|_| self.damaged(name, "out of range"))
    }

    fn bytes<const N: usize>(&self, column: usize, name: &'static str) -> Result<Option<[u8; N]>, Fault> {
        let bytes: Option<&[u8]> = self.get(column)?;
        let whole = |bytes: &[u8]| bytes.try_into().map_err(|_| self.damaged(name, "of the wrong length"));
        bytes.map(whole).transpose()
    }

    fn job_id(&self, uuid: Uuid, name: &'static str) -> Result<JobId, Fault> {
        JobId::from_bytes(*uuid.as_bytes()).ok_or_else(|| self.damaged(name, "no UUID of version 7"))
    }
}

/// The job whose columns begin at `first`.
pub(crate) fn read(row: &Row, first: usize) -> Result<Numbered, Fault> {
    let id: Uuid = row.try_get(first).map_err(Fault::of("read a cell"))?;
    let cells = Cells { row, first, id };
    let json = |text: Option<&str>| text.map_or_else(Json::empty_object, Json::from_trusted);
    let unique = |text: Option<&str>| text.map(policy::read).transpose();
    let spec = cells.text(9, "options", options::read)?.with(options::Columns {
        kind: JobType::parse(cells.get(3)?).map_err(|_| cells.damaged("type", "no job type"))?,
        queue: QueueName::parse(cells.get(4)?).map_err(|_| cells.damaged("queue", "no queue name"))?,
        priority: Priority::new(cells.get::<i16>(5)?.into())
            .map_err(|_| cells.damaged("priority", "out of range"))?,
        unique: cells.text(8, "policy", unique)?,
        args: Json::from_trusted(cells.get::<&str>(10)?),
        meta: json(cells.get(11)?),
        extra: json(cells.get(12)?),
    });
    let Holding { ledger, released, first_start, progress, checkpoint, begun_at } =
        cells.text(32, "ledger", ledger::read)?;
    let span = |millis| record::span(millis).map_err(|_| cells.damaged("retry_ms", "negative"));
    let beside = |uuid| cells.job_id(uuid, "reentered_beside");
    let job = Job {
        id: cells.job_id(id, "id")?,
        spec: Arc::new(spec),
        key: cells.bytes(7, "key")?.map(Key::from_bytes),
        created_at: Timestamp::from_millis(cells.get(6)?),
        enqueued_at: cells.time(17)?,
        activated_at: cells.time(18)?,
        started_at: cells.time(19)?,
        attempt: cells.number(cells.get::<i32>(14)?.into(), "attempt")?,
        fence: cells.number(cells.get(15)?, "fence")?,
        phase: read_phase(&cells)?,
        history: cells.text(31, "errors", failures::read)?,
        retry_delay: cells.get::<Option<i64>>(28)?.map(span).transpose()?,
        ledger,
        reentered_beside: cells.get::<Option<Uuid>>(29)?.map(beside).transpose()?,
        released,
        first_start,
        progress,
        checkpoint,
        begun_at,
    };
    let (seq, turn) = (cells.number(cells.get(1)?, "seq")?, cells.number(cells.get(2)?, "turn")?);
    Ok(Numbered { seq, turn, job })
}

fn read_phase(cells: &Cells<'_>) -> Result<hapax_core::Phase, Fault> {
    let state: State = cells.get::<&str>(13)?.parse().map_err(|_| cells.damaged("state", "no state"))?;
    let after = cells.get::<Option<Uuid>>(26)?.map(|id| Cow::Owned(id.hyphenated().to_string()));
    let columns = phase::Columns {
        at: cells.get(16)?,
        token: cells.bytes(20, "token")?,
        worker: cells.get::<Option<&str>>(21)?.map(Cow::Borrowed),
        deadline: cells.get(22)?,
        lease_ms: cells.get(23)?,
        times_out_at: cells.get(24)?,
        detail: after.or(cells.get::<Option<&str>>(25)?.map(Cow::Borrowed)),
        dead_letter: cells.get(27)?,
        result: cells.get::<Option<&str>>(30)?.map(Cow::Borrowed),
    };
    phase::read(state, columns).map_err(|Damage { column, found }| cells.damaged(column, found))
}
