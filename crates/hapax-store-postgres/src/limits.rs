//! Rate limits: whose jobs are in line, and whose are held back.
//!
//! A job for which there is no room is held back: it leaves the line, in which claims look, until something may have made
//! room. Then the first of its limit comes back in each queue, and whoever looks at it sees the others behind it. Whether
//! there is room is decided under a lock on the limit, which is also taken by whoever makes some: so nobody is held back for
//! a reason that has just passed.

use std::collections::BTreeSet;

use hapax_core::limit::LimitKey;
use hapax_core::{Job, JobId, QueueName, State};
use hapax_store::desk::{Desk, Moved, Numbered};
use hapax_store::{EntryKey, HeldBack, limit};
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use crate::locks::{self, Lock};
use crate::statements::Statements;
use crate::store::Engine;
use crate::transaction::Transaction;
use crate::{Fault, entry, row};

/// How many jobs behind one limit one claim holds back; the next one goes on.
const HELD_BACK_MAX: i64 = 1000;
/// In how many queues jobs come back at a time.
const QUEUES_MAX: i64 = 10_000;

/// The limits of these changes for which there may be room, or of which the first in line may be another.
pub(crate) fn touched(moved: &[Moved]) -> BTreeSet<LimitKey> {
    let mut keys = BTreeSet::new();
    for Moved { before, after } in moved {
        let Some((before, key)) = before.as_ref().and_then(|job| Some((job, shared(job)?))) else { continue };
        let counted = matches!(before.state(), State::Active | State::Available);
        let stays = |stored: &Numbered| {
            stored.job.state() == before.state()
                && shared(&stored.job) == Some(key)
                && stored.job.spec.queue == before.spec.queue
        };
        if counted && !after.as_ref().is_some_and(stays) {
            keys.insert(key.clone());
        }
    }
    keys
}

/// The limit that a job shares.
fn shared(job: &Job) -> Option<&LimitKey> {
    job.spec.rate_limit.as_deref().map(|limit| &limit.key)
}

/// The statements that bring jobs back into line, ready on one connection.
pub(crate) struct LetIn {
    lock: Statement,
    let_in: Statement,
}

impl LetIn {
    pub(crate) async fn prepare(
        transaction: &Transaction<'_>,
        statements: &Statements,
    ) -> Result<LetIn, Fault> {
        Ok(LetIn {
            lock: transaction.prepare(&statements.lock).await?,
            let_in: transaction.prepare(&statements.let_in).await?,
        })
    }

    /// Waits for whoever decides about these limits: that takes moments.
    pub(crate) async fn lock(
        &self,
        transaction: &Transaction<'_>,
        keys: &BTreeSet<LimitKey>,
    ) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        let locks: BTreeSet<Lock> = keys.iter().map(|key| Lock::of_entry(&limit::key(key))).collect();
        let numbers: Vec<i64> = locks.into_iter().map(Lock::number).collect();
        transaction.query(&self.lock, &[&numbers], "lock rate limits").await.map(drop)
    }

    /// Brings back the first jobs of these limits; the queues in which that was.
    pub(crate) async fn run(
        &self,
        transaction: &Transaction<'_>,
        keys: &BTreeSet<LimitKey>,
    ) -> Result<BTreeSet<QueueName>, Fault> {
        let mut queues: BTreeSet<QueueName> = keys.iter().filter_map(LimitKey::limited_queue).collect();
        let keys: Vec<&str> = keys.iter().map(LimitKey::as_str).collect();
        if keys.is_empty() {
            return Ok(queues);
        }
        for row in transaction.query(&self.let_in, &[&keys, &QUEUES_MAX], "let jobs in").await? {
            let name: &str = row.try_get(0).map_err(Fault::of("let jobs in"))?;
            queues.insert(QueueName::parse(name).map_err(|_| Fault::Unreadable("the name of a queue"))?);
        }
        Ok(queues)
    }
}

/// What a claim has to know of limits.
pub(crate) struct LimitDesk<'t> {
    pub(crate) engine: &'t Engine,
    pub(crate) transaction: &'t Transaction<'t>,
    /// The statement that tries locks, and the one that reads entries.
    pub(crate) lock: &'t Statement,
    pub(crate) entries: &'t Statement,
}

impl LimitDesk<'_> {
    /// Locks the limits of jobs in line, and lays what is known of them on the desk. Jobs of limits about which somebody
    /// else decides at this moment are taken out of the line, and others that share a limit with one in it are added, as
    /// far as their places are not behind the end of what was looked at. False if some were taken out.
    pub(crate) async fn lay(
        &self,
        desk: &mut Desk,
        queue: &QueueName,
        line: &mut Vec<Numbered>,
        is_whole: bool,
        count: i64,
    ) -> Result<bool, Fault> {
        let keys: BTreeSet<LimitKey> =
            line.iter().filter_map(|stored| shared(&stored.job)).cloned().collect();
        if keys.is_empty() {
            return Ok(true);
        }
        let last = line.iter().map(rank).max().filter(|_| !is_whole);
        let refused = self.lock(&keys).await?;
        line.retain(|stored| shared(&stored.job).is_none_or(|key| !refused.contains(key)));
        let keys: Vec<&LimitKey> = keys.iter().filter(|key| !refused.contains(*key)).collect();
        let names: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
        let statements = &self.engine.statements;
        let others = self.transaction.prepare(&statements.limit_lines).await?;
        let params: [&(dyn ToSql + Sync); 3] = [&queue.as_str(), &names, &count];
        for row in self.transaction.query(&others, &params, "fetch jobs behind limits").await? {
            let stored = row::read(&row, 0)?;
            let is_there = line.iter().any(|known| known.job.id == stored.job.id);
            if !is_there && last.is_none_or(|last| rank(&stored) <= last) {
                line.push(stored);
            }
        }
        let active = self.transaction.prepare(&statements.limit_active).await?;
        let rows = self.transaction.query(&active, &[&names], "count running jobs").await?;
        for (key, row) in keys.iter().zip(&rows) {
            let active: i64 = row.try_get(0).map_err(Fault::of("count running jobs"))?;
            // Those that were given out in this very transaction run already, on the desk.
            desk.lay_active_elsewhere(key, active.unsigned_abs());
        }
        self.lay_entries(desk, &keys).await?;
        Ok(refused.is_empty())
    }

    /// The same for the limit of a queue. Nothing if it has none, false if somebody else decides about it.
    pub(crate) async fn lay_queue(&self, desk: &mut Desk, queue: &QueueName) -> Result<Option<bool>, Fault> {
        let key = LimitKey::of_queue(queue);
        let entry = entry::load(self.transaction, self.entries, &[limit::key(&key)]).await?;
        if entry.is_empty() {
            return Ok(None);
        }
        if !self.lock(&BTreeSet::from([key.clone()])).await?.is_empty() {
            return Ok(Some(false));
        }
        let active = self.transaction.prepare(&self.engine.statements.queue_active).await?;
        let rows = self.transaction.query(&active, &[&queue.as_str()], "count running jobs").await?;
        let active = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
        let active = active.map_err(Fault::of("count running jobs"))?.unwrap_or(0);
        desk.lay_active_in_elsewhere(queue, u64::try_from(active).unwrap_or(0));
        self.lay_entries(desk, &[&key]).await?;
        Ok(Some(true))
    }

    /// Holds back those for whom there is no room: all behind the first of a limit; but of one that was looked at before its
    /// turn only those of the same tenant (`own`), as the first may have other limits.
    pub(crate) async fn hold_back(
        &self,
        desk: &Desk,
        held: &[HeldBack],
        own: &[(JobId, LimitKey)],
    ) -> Result<(), Fault> {
        let of_jobs = held.iter().filter(|held| held.key.limited_queue().is_none());
        let (first, others): (Vec<&HeldBack>, Vec<&HeldBack>) =
            of_jobs.partition(|held| own.is_empty() || desk.is_aside(&held.queue, &held.key));
        let behind = |(_, key): &&(JobId, LimitKey)| others.iter().any(|held| held.key == *key);
        let waits = |id: &JobId| desk.get(*id).is_some_and(|job| job.state() == State::Available);
        let ids = own.iter().filter(behind).map(|(id, _)| *id).filter(waits);
        let ids: Vec<uuid::Uuid> = ids.map(row::uuid).collect();
        if !ids.is_empty() {
            let statement = self.transaction.prepare(&self.engine.statements.hold_back_own).await?;
            self.transaction.execute(&statement, &[&ids], "hold jobs of a tenant back").await?;
        }
        let (queues, keys): (Vec<&str>, Vec<&str>) =
            first.iter().map(|held| (held.queue.as_str(), held.key.as_str())).unzip();
        if keys.is_empty() {
            return Ok(());
        }
        let statement = self.transaction.prepare(&self.engine.statements.hold_back).await?;
        self.transaction
            .execute(&statement, &[&queues, &keys, &HELD_BACK_MAX], "hold jobs back")
            .await
            .map(drop)
    }

    /// Tries to lock limits; those that others have.
    async fn lock(&self, keys: &BTreeSet<LimitKey>) -> Result<BTreeSet<LimitKey>, Fault> {
        let of = |key: &LimitKey| Lock::of_entry(&limit::key(key));
        let refused = locks::take(self.transaction, self.lock, &keys.iter().map(of).collect()).await?;
        Ok(keys.iter().filter(|key| refused.contains(&of(key))).cloned().collect())
    }

    async fn lay_entries(&self, desk: &mut Desk, keys: &[&LimitKey]) -> Result<(), Fault> {
        let keys: Vec<EntryKey> = keys.iter().map(|key| limit::key(key)).collect();
        for entry in entry::load(self.transaction, self.entries, &keys).await? {
            desk.lay_entry_once(entry);
        }
        Ok(())
    }
}

/// A place in line: less is earlier.
fn rank(stored: &Numbered) -> (i16, u64, u64) {
    (-i16::from(stored.job.spec.priority.get()), stored.turn, stored.seq)
}
