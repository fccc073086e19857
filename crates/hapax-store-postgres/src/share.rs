//! Fair shares: jobs that drew turns in a transaction and share their queue with those of other keys.

use std::collections::BTreeSet;

use hapax_core::State;
use hapax_store::desk::Numbered;
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::locks::Lock;
use crate::row::uuid;
use crate::transaction::Transaction;
use crate::{Fault, SchemaName};

/// Those who are to get the turns that they have a right to, when all rows are written.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    ids: Vec<Uuid>,
    /// Of their queues.
    locks: BTreeSet<Lock>,
}

impl Shares {
    /// One that drew a turn.
    pub(crate) fn note(&mut self, stored: &Numbered) {
        let job = &stored.job;
        if job.state() == State::Available && job.spec.fair_key().is_some() {
            self.ids.push(uuid(job.id));
            self.locks.insert(Lock::of_share(&job.spec.queue));
        }
    }

    /// The statement, ready; nothing for most transactions.
    pub(crate) async fn prepare(
        &self,
        transaction: &Transaction<'_>,
        schema: &SchemaName,
    ) -> Result<Option<Statement>, Fault> {
        if self.ids.is_empty() {
            return Ok(None);
        }
        let sql = schema.statement("SELECT hapax.share($1::uuid[], $2::bigint[])");
        transaction.prepare(&sql).await.map(Some)
    }

    pub(crate) async fn give(
        &self,
        transaction: &Transaction<'_>,
        statement: Option<&Statement>,
    ) -> Result<(), Fault> {
        let Some(statement) = statement else { return Ok(()) };
        let locks: Vec<i64> = self.locks.iter().copied().map(Lock::number).collect();
        transaction.execute(statement, &[&self.ids, &locks], "give fair turns").await.map(drop)
    }
}
