//! Fetching and locking the rows that operations ask for.

use std::collections::HashSet;

use hapax_core::unique::{Key, Uniqueness, Watch};
use hapax_core::{JobId, State, StateSet, Timestamp};
use hapax_store::desk::Numbered;
use hapax_store::{Action, Op};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use uuid::Uuid;

use crate::Fault;
use crate::row::{self, uuid};
use crate::statements::Statements;
use crate::transaction::{Patience, Transaction};

/// What to fetch: jobs by name, jobs that carry a key, and who waits for any of them.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Jobs that are there, most likely.
    ids: HashSet<JobId>,
    /// Jobs that are not there, most likely.
    newcomers: HashSet<JobId>,
    keys: HashSet<Key>,
    ended: Vec<(Key, Watch, Timestamp)>,
}

/// What was fetched.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) jobs: Vec<Numbered>,
    /// Rows that others hold.
    pub(crate) held: Vec<Held>,
}

/// A row that another transaction has locked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) id: Uuid,
    pub(crate) key: Option<Key>,
    pub(crate) after: Option<Uuid>,
}

impl Wanted {
    /// What an operation asks for at first sight.
    pub(crate) fn add(&mut self, op: &Op) {
        match &op.action {
            Action::Enqueue { incoming, .. } => self.add_incoming(incoming, op.now),
            Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => {
                for incoming in incoming {
                    self.add_incoming(incoming, op.now);
                }
            }
            Action::Step { id, .. } => drop(self.ids.insert(*id)),
            // Those that are carried out alone say themselves what they lack.
            Action::StartWorkflow { .. }
            | Action::StepHolders { .. }
            | Action::Edit { .. }
            | Action::EditTogether { .. }
            | Action::RunCron { .. }
            | Action::CancelWorkflow(_)
            | Action::Pause(_)
            | Action::Resume(_)
            | Action::RemoveQueue(_) => {}
        }
    }

    fn add_incoming(&mut self, incoming: &hapax_core::Incoming, now: Timestamp) {
        self.newcomers.insert(incoming.id);
        if let Some((key, watch)) = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch)) {
            self.add_key(key, watch, now);
        }
    }

    pub(crate) fn add_id(&mut self, id: JobId) {
        self.ids.insert(id);
    }

    /// Everybody that counts for this watch.
    pub(crate) fn add_key(&mut self, key: Key, watch: Watch, now: Timestamp) {
        self.keys.insert(key);
        let looks_at_ended = !ended(watch.states).is_empty();
        if looks_at_ended && self.ended.last() != Some(&(key, watch, now)) {
            self.ended.push((key, watch, now));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.newcomers.is_empty() && self.keys.is_empty()
    }

    pub(crate) fn newcomers(&self) -> Vec<Uuid> {
        self.newcomers.iter().copied().map(uuid).collect()
    }

    /// Keys whose living holders count.
    pub(crate) fn keys(&self) -> Vec<&[u8]> {
        self.keys.iter().map(|key| key.bytes().as_slice()).collect()
    }

    /// Keys of which some that have ended count.
    pub(crate) fn ended_keys(&self) -> Vec<&[u8]> {
        self.ended.iter().map(|(key, ..)| key.bytes().as_slice()).collect()
    }

    /// Fetches and locks; from then on nobody else changes these rows until the transaction ends.
    pub(crate) async fn load(
        &self,
        transaction: &Transaction<'_>,
        statements: &LoadStatements,
    ) -> Result<Loaded, Fault> {
        if self.is_empty() {
            return Ok(Loaded::default());
        }
        if transaction.patience == Patience::None
            && let Some(loaded) = self.glance(transaction, statements).await?
        {
            return Ok(loaded);
        }
        self.look(transaction, statements).await
    }

    /// The same, and names what others hold, if anything is asked for.
    pub(crate) async fn look_closely(
        &self,
        transaction: &Transaction<'_>,
        statements: &LoadStatements,
    ) -> Result<Loaded, Fault> {
        if self.is_empty() { Ok(Loaded::default()) } else { self.look(transaction, statements).await }
    }

    /// What is enough for most: everybody who should be there is there and free, and nobody else is concerned. Otherwise
    /// nothing: then a closer look has to be taken.
    async fn glance(
        &self,
        transaction: &Transaction<'_>,
        statements: &LoadStatements,
    ) -> Result<Option<Loaded>, Fault> {
        let ids: Vec<Uuid> = self.ids.iter().copied().map(uuid).collect();
        let (newcomers, keys, ended) = (self.newcomers(), self.keys(), self.ended_keys());
        let named: Params<'_, 1> = [&ids];
        let others: Params<'_, 3> = [&newcomers, &keys, &ended];
        let has_newcomers = !newcomers.is_empty() || !keys.is_empty();
        // In this order: whoever makes a job wait for another has locked the other first, so that none can be made that
        // the look at who waits does not see.
        let (jobs, waiting, others) = tokio::join! {
            biased;
            ask(transaction, !ids.is_empty(), &statements.glance, &named, "fetch jobs"),
            ask(transaction, !ids.is_empty(), &statements.is_waited_for, &named, "look for jobs that wait"),
            ask(transaction, has_newcomers, &statements.is_taken, &others, "look for jobs in the way"),
        };
        let jobs = jobs?;
        if jobs.len() < ids.len() || !waiting?.is_empty() || !others?.is_empty() {
            return Ok(None);
        }
        let jobs = jobs.iter().map(|row| row::read(row, 0)).collect::<Result<_, _>>()?;
        Ok(Some(Loaded { jobs, held: Vec::new() }))
    }

    /// Fetches and locks everybody, or says who is locked by others.
    async fn look(
        &self,
        transaction: &Transaction<'_>,
        statements: &LoadStatements,
    ) -> Result<Loaded, Fault> {
        let ids: Vec<Uuid> = self.ids.union(&self.newcomers).copied().map(uuid).collect();
        let (keys, ended_keys) = (self.keys(), self.ended_keys());
        let states: Vec<String> =
            self.ended.iter().map(|(_, watch, _)| ended(watch.states).join(",")).collect();
        let since: Vec<Option<i64>> = self.ended.iter().map(|(_, watch, now)| since(*watch, *now)).collect();
        let anchors: Vec<&str> = self.ended.iter().map(|(_, watch, _)| watch.period_from.name()).collect();
        let wanted: Params<'_, 6> = [&ids, &keys, &ended_keys, &states, &since, &anchors];
        let followed: Params<'_, 2> = [&ids, &keys];
        let (jobs, successors) = tokio::join! {
            biased;
            transaction.query(&statements.jobs, &wanted, "fetch jobs"),
            transaction.query(&statements.successors, &followed, "fetch jobs that wait for others"),
        };
        Loaded::of(jobs?.iter().chain(&successors?))
    }
}

impl Loaded {
    fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Result<Loaded, Fault> {
        let mut loaded = Loaded::default();
        let mut seen = HashSet::new();
        for row in rows {
            let id: Option<Uuid> = row.try_get(FIRST).map_err(Fault::of("read a cell"))?;
            // Who is wanted for two reasons comes twice.
            if id.is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            if id.is_some() {
                loaded.jobs.push(row::read(row, FIRST)?);
            } else {
                loaded.held.push(held(row)?);
            }
        }
        Ok(loaded)
    }

    /// Those who wait for jobs that this transaction has locked.
    pub(crate) async fn successors(
        transaction: &Transaction<'_>,
        statements: &LoadStatements,
        ids: &[JobId],
    ) -> Result<Loaded, Fault> {
        let ids: Vec<Uuid> = ids.iter().copied().map(uuid).collect();
        let keys: Vec<&[u8]> = Vec::new();
        let params: Params<'_, 2> = [&ids, &keys];
        let doing = "fetch jobs that wait for others";
        let rows = ask(transaction, !ids.is_empty(), &statements.successors, &params, doing).await?;
        Loaded::of(rows.iter())
    }
}

/// The rows, if there is anything to ask for.
async fn ask(
    transaction: &Transaction<'_>,
    is_asked: bool,
    statement: &Statement,
    params: &[&(dyn ToSql + Sync)],
    doing: &'static str,
) -> Result<Vec<Row>, Fault> {
    if is_asked { transaction.query(statement, params, doing).await } else { Ok(Vec::new()) }
}

type Params<'p, const N: usize> = [&'p (dyn ToSql + Sync); N];

/// The statements that fetch, ready on one connection.
pub(crate) struct LoadStatements {
    glance: Statement,
    is_waited_for: Statement,
    is_taken: Statement,
    jobs: Statement,
    successors: Statement,
}

impl LoadStatements {
    pub(crate) async fn prepare(
        transaction: &Transaction<'_>,
        statements: &Statements,
    ) -> Result<LoadStatements, Fault> {
        let (jobs, successors) = match transaction.patience {
            Patience::None => (&statements.load, &statements.load_successors),
            Patience::UntilTimeout => (&statements.load_waiting, &statements.load_successors_waiting),
        };
        Ok(LoadStatements {
            glance: transaction.prepare(&statements.glance).await?,
            is_waited_for: transaction.prepare(&statements.is_waited_for).await?,
            is_taken: transaction.prepare(&statements.is_taken).await?,
            jobs: transaction.prepare(jobs).await?,
            successors: transaction.prepare(successors).await?,
        })
    }
}

/// Where the columns of a job begin in a row of `load.sql`.
const FIRST: usize = 3;

fn held(row: &Row) -> Result<Held, Fault> {
    let failed = Fault::of("read a cell");
    let key: Option<&[u8]> = row.try_get(1).map_err(&failed)?;
    let key = key.and_then(|bytes| bytes.try_into().ok()).map(Key::from_bytes);
    Ok(Held { id: row.try_get(0).map_err(&failed)?, key, after: row.try_get(2).map_err(&failed)? })
}

pub(crate) fn ended(states: StateSet) -> Vec<&'static str> {
    states.iter().filter(|state| state.is_terminal()).map(State::name).collect()
}

/// Holders count whose anchor lies after this. A little too early does no harm: core looks again.
pub(crate) fn since(watch: Watch, now: Timestamp) -> Option<i64> {
    watch.period.map(|period| (now - period).millis().saturating_sub(1))
}
