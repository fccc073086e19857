//! A transaction on a connection. Statements are prepared before it begins, so that everything it does can be sent
//! without waiting for answers in between.

use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::Fault;
use crate::connect::Link;
use crate::row::Shape;

/// Whether a transaction waits for the locks of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It goes on without what others hold. (Two jobs with the same id, stored at once, still meet: for a second.)
    None,
    /// It waits, for ten seconds.
    UntilTimeout,
}

/// Whatever the database's defaults say, one level of isolation is what the engine relies on: each statement sees what
/// was committed before it began. Plans are made once for a connection, perhaps when the table was empty, and must be
/// good for millions of jobs: no reading of all of it, and no joining that costs the square of a group.
macro_rules! begin {
    ($lock_time:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL enable_seqscan = off; ",
            "SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off; ",
            "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL lock_timeout = ",
            $lock_time
        )
    };
}

/// A transaction that was not committed is undone: whoever sees an error lets go of the connection
/// ([`crate::connect`]), and the database of the transaction.
pub(crate) struct Transaction<'c> {
    link: &'c Link,
    pub(crate) patience: Patience,
}

impl<'c> Transaction<'c> {
    /// One that has yet to begin.
    pub(crate) fn new(link: &'c Link, patience: Patience) -> Transaction<'c> {
        Transaction { link, patience }
    }

    pub(crate) async fn begin(&self) -> Result<(), Fault> {
        let sql = match self.patience {
            Patience::None => begin!("'1s'"),
            Patience::UntilTimeout => begin!("'10s'"),
        };
        self.link.client().batch_execute(sql).await.map_err(Fault::of("begin a transaction"))
    }

    /// The statement, ready: asks the database only for the first time on this connection.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement, Fault> {
        self.link.prepare(sql).await
    }

    /// The statement for sheets of that shape, ready.
    pub(crate) async fn prepare_shape(
        &self,
        shape: Shape,
        sql: impl FnOnce() -> String,
    ) -> Result<Statement, Fault> {
        self.link.prepare_shape(shape, sql).await
    }

    pub(crate) async fn query(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        doing: &'static str,
    ) -> Result<Vec<Row>, Fault> {
        self.link.client().query(statement, params).await.map_err(Fault::of(doing))
    }

    pub(crate) async fn execute(
        &self,
        statement: &Statement,
        params: &[&(dyn ToSql + Sync)],
        doing: &'static str,
    ) -> Result<u64, Fault> {
        self.link.client().execute(statement, params).await.map_err(Fault::of(doing))
    }

    pub(crate) async fn commit(&self) -> Result<(), Fault> {
        self.link.client().batch_execute("COMMIT").await.map_err(Fault::of("commit"))?;
        // It is committed here, but a standby that was to have it may not: nobody may be told that it is safe.
        if self.link.was_warned() { Err(Fault::NotReplicated) } else { Ok(()) }
    }
}
