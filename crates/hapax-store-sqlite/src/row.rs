//! Rows: the shape in which a job lies in the tables, and the way there and back.
//!
//! Both ways take every field apart by name, so that a new one cannot be forgotten.

pub(crate) mod cells;
mod job;
mod pen;
mod status;

use hapax_core::unique::Key;
use hapax_core::{Job, JobId, Spec, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Statement};

use self::pen::Pen;
use crate::Fault;

/// A job's number in the order of insertion.
pub(crate) type Seq = i64;
/// A job's place among all that ever became available. A number and not a time, so that the order outlives
/// a clock that is set back.
pub(crate) type Turn = i64;

/// A job with what the engine keeps about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) seq: Seq,
    pub(crate) turn: Turn,
    pub(crate) job: Job,
}

/// What the `jobs` table knows of a job.
pub(crate) struct Body {
    seq: Seq,
    id: JobId,
    key: Option<Key>,
    created_at: Timestamp,
    spec: Spec,
}

/// Reads jobs by their number.
pub(crate) struct Loader<'c> {
    job: Statement<'c>,
    status: Statement<'c>,
}

impl<'c> Loader<'c> {
    pub(crate) fn new(db: &'c Connection) -> Result<Loader<'c>, Fault> {
        Ok(Loader { job: prepare(db, job::SELECT)?, status: prepare(db, status::SELECT)? })
    }

    /// The job of that number. Both halves must be read in one transaction.
    pub(crate) fn load(&mut self, seq: Seq) -> Result<Option<Stored>, Fault> {
        let body = self.job.query_row([seq], |row| Ok(job::read(row)));
        let body = body.optional().map_err(Fault::of("read a row of jobs"))?;
        let status = self.status.query_row([seq], |row| Ok(status::read(row)));
        let status = status.optional().map_err(Fault::of("read a row of status"))?;
        match (body, status) {
            (Some(body), Some(status)) => Ok(Some(status?.with(body?))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Fault::Orphan { table: job::TABLE, other: status::TABLE, seq }),
            (None, Some(_)) => Err(Fault::Orphan { table: status::TABLE, other: job::TABLE, seq }),
        }
    }

    /// How many jobs were looked up.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        let runs = self.job.get_status(rusqlite::StatementStatus::Run);
        usize::try_from(runs).expect("statements run no negative number of times")
    }
}

/// Writes jobs.
pub(crate) struct Saver<'c> {
    insert_job: Pen<'c, { job::CELLS }>,
    insert_status: Pen<'c, { status::CELLS }>,
    update_job: Pen<'c, { job::CELLS }>,
    update_status: Pen<'c, { status::CELLS }>,
    delete_job: Statement<'c>,
    delete_status: Statement<'c>,
}

impl<'c> Saver<'c> {
    pub(crate) fn new(db: &'c Connection) -> Result<Saver<'c>, Fault> {
        Ok(Saver {
            insert_job: Pen::new(db, job::INSERT)?,
            insert_status: Pen::new(db, status::INSERT)?,
            update_job: Pen::new(db, job::UPDATE)?,
            update_status: Pen::new(db, status::UPDATE)?,
            delete_job: prepare(db, job::DELETE)?,
            delete_status: prepare(db, status::DELETE)?,
        })
    }

    pub(crate) fn insert(&mut self, stored: &Stored) -> Result<(), Fault> {
        job::write(&mut self.insert_job, stored)?;
        status::write(&mut self.insert_status, stored)
    }

    pub(crate) fn update_body(&mut self, stored: &Stored) -> Result<(), Fault> {
        job::write(&mut self.update_job, stored)
    }

    pub(crate) fn update_status(&mut self, stored: &Stored) -> Result<(), Fault> {
        status::write(&mut self.update_status, stored)
    }

    pub(crate) fn delete(&mut self, seq: Seq) -> Result<(), Fault> {
        for statement in [&mut self.delete_job, &mut self.delete_status] {
            statement.execute([seq]).map_err(Fault::of("remove a row"))?;
        }
        Ok(())
    }
}

/// Shows every job in the order of `seq`, without what can be large: arguments, metadata, results,
/// failures and ledgers.
pub(crate) fn scan(db: &Connection, show: impl FnMut(Stored) -> Result<(), Fault>) -> Result<(), Fault> {
    side_by_side(db, job::SCAN, status::SCAN, show)
}

/// Shows every job in the order of `seq`, with everything.
pub(crate) fn show_all<E: From<Fault>>(
    db: &Connection,
    show: impl FnMut(Stored) -> Result<(), E>,
) -> Result<(), E> {
    side_by_side(db, job::ALL, status::ALL, show)
}

/// Both tables are read side by side, so each row must meet its other half.
fn side_by_side<E: From<Fault>>(
    db: &Connection,
    jobs: &str,
    statuses: &str,
    mut show: impl FnMut(Stored) -> Result<(), E>,
) -> Result<(), E> {
    let failed = Fault::of("scan the tables");
    let mut jobs = db.prepare(jobs).map_err(&failed)?;
    let mut statuses = db.prepare(statuses).map_err(&failed)?;
    let (mut jobs, mut statuses) = (jobs.query([]).map_err(&failed)?, statuses.query([]).map_err(&failed)?);
    loop {
        let body = jobs.next().map_err(&failed)?.map(job::read).transpose()?;
        let status = statuses.next().map_err(&failed)?.map(status::read).transpose()?;
        match (body, status) {
            (None, None) => return Ok(()),
            (Some(body), Some(status)) if body.seq == status.seq => show(status.with(body))?,
            (body, status) => {
                let job_seq = body.map_or(Seq::MAX, |body| body.seq);
                let status_seq = status.map_or(Seq::MAX, |status| status.seq);
                return Err(E::from(if job_seq < status_seq {
                    Fault::Orphan { table: job::TABLE, other: status::TABLE, seq: job_seq }
                } else {
                    Fault::Orphan { table: status::TABLE, other: job::TABLE, seq: status_seq }
                }));
            }
        }
    }
}

fn prepare<'c>(db: &'c Connection, sql: &str) -> Result<Statement<'c>, Fault> {
    db.prepare(sql).map_err(Fault::of("prepare a statement"))
}

/// A statement that is needed now and then.
pub(crate) fn statement<'c>(db: &'c Connection, sql: &str) -> Result<CachedStatement<'c>, Fault> {
    db.prepare_cached(sql).map_err(Fault::of("prepare a statement"))
}
