//! A schema without jobs that takes over what another store held. Nobody else can use it meanwhile: see [`mark`].

use std::fmt;

use hapax_core::limit::turn_of;
use hapax_core::{Rules, Timestamp};
use hapax_store::desk::{Desk, Moved};
use hapax_store::portable::{Census, ImportError, Item, Mark, Queue, Target};
use hapax_store::{EntryKey, MemoKey, Revision, StoreError};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;

use crate::connect::{self, Link};
use crate::migrate::runtime;
use crate::save::{Rest, Then, Writers, save};
use crate::share::Shares;
use crate::statements::Statements;
use crate::tally::Tally;
use crate::transaction::{Patience, Transaction};
use crate::{DatabaseUrl, Fault, OpenError, SchemaName, mark, schema};

/// Waits for whoever is at work in the tables, for ten seconds, and lets in nobody else.
const LOCK: &str = "SET LOCAL lock_timeout = '10s'; \
     LOCK TABLE hapax.jobs, hapax.tallies, hapax.pauses, hapax.memos, hapax.entries, hapax.ends IN ACCESS EXCLUSIVE MODE";
const HELD: &str = "SELECT (SELECT count(*) FROM (SELECT queue FROM hapax.tallies UNION SELECT queue FROM hapax.pauses) q), \
     (SELECT count(*) FROM hapax.jobs), (SELECT count(*) FROM hapax.memos), (SELECT count(*) FROM hapax.entries)";
const NEXT_NUMBER: &str = "SELECT setval('hapax.numbers', greatest(i.last_number, n.last_value)) \
     FROM hapax.import i, hapax.numbers n WHERE i.last_number > 0";

/// A schema that an import fills.
pub struct PostgresTarget {
    filling: Filling,
    runtime: Runtime,
}

struct Filling {
    link: Link,
    /// Its own name, under which it is to be found in the end.
    schema: SchemaName,
    /// Its name until then.
    importing: SchemaName,
    statements: Statements,
    rules: Rules,
    /// How far it got.
    mark: Option<Mark>,
}

impl PostgresTarget {
    /// Brings the tables up to date as a server would. What holds anything but the first part of an import is refused.
    /// The rules are those of the servers to come: when finished jobs are removed is stored with each. Blocks: not for
    /// use inside a runtime.
    pub fn open(
        database: &DatabaseUrl,
        schema: &SchemaName,
        rules: Rules,
    ) -> Result<PostgresTarget, OpenError> {
        let runtime = runtime()?;
        let filling = runtime.block_on(Filling::reach(database, schema, rules))?;
        Ok(PostgresTarget { filling, runtime })
    }
}

impl Target for PostgresTarget {
    fn begun(&self) -> Option<Mark> {
        self.filling.mark
    }

    fn begin(&mut self, mark: Mark) -> Result<(), ImportError> {
        self.runtime.block_on(self.filling.begin(mark))
    }

    fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError> {
        self.runtime.block_on(self.filling.store(items, mark))
    }

    fn finish(&mut self, census: Census) -> Result<(), ImportError> {
        self.runtime.block_on(self.filling.finish(census))
    }
}

impl Filling {
    async fn reach(database: &DatabaseUrl, schema: &SchemaName, rules: Rules) -> Result<Filling, OpenError> {
        let mut link = connect::open(database, None).await?;
        let importing = schema.importing();
        let mark = mark::read(link.client(), &importing).await?;
        if mark.is_none() {
            schema::migrate(link.client_mut(), schema).await?;
            let held = held(link.client(), schema).await?;
            if held != Census::default() {
                return Err(OpenError::NotEmpty { schema: schema.clone(), held });
            }
        }
        let statements = Statements::of(&importing);
        Ok(Filling { link, schema: schema.clone(), importing, statements, rules, mark })
    }

    /// Shuts everybody out: from the lock on nobody can have put anything there, and from the commit on nobody finds it.
    async fn begin(&mut self, mark: Mark) -> Result<(), ImportError> {
        let (own, importing) = (self.schema.clone(), self.importing.clone());
        self.alone(async |transaction| shut_out(transaction, &own, &importing, mark).await).await?;
        self.mark = Some(mark);
        Ok(())
    }

    /// A transaction of its own. What fails is undone at once: nobody shall wait for locks until this connection ends.
    async fn alone(
        &mut self,
        work: impl AsyncFnOnce(&tokio_postgres::Transaction<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let failed = Fault::of("begin or finish the import");
        let transaction = self.link.client_mut().transaction().await.map_err(&failed)?;
        match work(&transaction).await {
            Ok(()) => Ok(transaction.commit().await.map_err(&failed)?),
            Err(error) => {
                transaction.rollback().await.map_err(&failed)?;
                Err(error)
            }
        }
    }

    async fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError> {
        let transaction = Transaction::new(&self.link, Patience::UntilTimeout);
        let writers = Writers::prepare(&transaction, &self.statements).await?;
        let Sorted { queues, jobs, desk, memos, entries, last_number } = Sorted::of(items, &self.rules);
        transaction.begin().await?;
        for queue in &queues {
            self.store_queue(&transaction, queue).await?;
        }
        // Jobs keep the turns that they have.
        let (opened, shares) = (std::collections::BTreeSet::new(), Shares::default());
        let rest = Rest {
            now: Timestamp::EPOCH,
            desk: &desk,
            memos: &memos,
            entries: &entries,
            opened: &opened,
            shares: &shares,
        };
        save(&transaction, &writers, &self.rules, &jobs, rest, Then::GoOn).await.map_err(unsaved)?;
        self.move_on(&transaction, mark, last_number).await?;
        transaction.commit().await?;
        self.mark = Some(mark);
        Ok(())
    }

    /// The first note about a queue says since when there is one.
    async fn store_queue(&self, transaction: &Transaction<'_>, queue: &Queue) -> Result<(), Fault> {
        let Queue { name, paused, created_at } = queue;
        let tally = transaction.prepare(&self.statements.tally).await?;
        Tally::of_queue(name.as_str(), *created_at).write(transaction, &tally).await?;
        if *paused {
            let pause = transaction.prepare(&self.statements.pause).await?;
            transaction.execute(&pause, &[&name.as_str()], "pause a queue").await?;
        }
        Ok(())
    }

    async fn move_on(
        &self,
        transaction: &Transaction<'_>,
        mark: Mark,
        last_number: u64,
    ) -> Result<(), ImportError> {
        let Mark { export, lines, digest } = mark;
        let before = self.mark.map_or(0, |mark| number(mark.lines));
        let statement = transaction.prepare(&self.importing.statement(mark::MOVE_ON)).await?;
        let params: [&(dyn ToSql + Sync); 5] =
            [&export.0.as_slice(), &before, &number(lines), &digest, &number(last_number)];
        match transaction.execute(&statement, &params, "note how far the import got").await? {
            1 => Ok(()),
            _ => Err(ImportError::AtWork),
        }
    }

    async fn finish(&mut self, census: Census) -> Result<(), ImportError> {
        let (own, importing) = (self.schema.clone(), self.importing.clone());
        let fold = self.statements.fold_tallies.clone();
        self.alone(async |transaction| let_in(transaction, &own, &importing, &fold, census).await).await
    }
}

async fn shut_out(
    transaction: &tokio_postgres::Transaction<'_>,
    own: &SchemaName,
    importing: &SchemaName,
    mark: Mark,
) -> Result<(), ImportError> {
    let failed = Fault::of("shut out the servers");
    schema::migrate_in(transaction, own).await.map_err(refused)?;
    transaction.batch_execute(&own.statement(LOCK)).await.map_err(&failed)?;
    let held = held(transaction, own).await?;
    if held != Census::default() {
        return Err(refused(OpenError::NotEmpty { schema: own.clone(), held }));
    }
    let rename = format!("ALTER SCHEMA {} RENAME TO {}", own.as_str(), importing.as_str());
    transaction.batch_execute(&rename).await.map_err(&failed)?;
    transaction.batch_execute(&importing.statement(mark::CREATE)).await.map_err(&failed)?;
    let Mark { export, lines, digest } = mark;
    let params: [&(dyn ToSql + Sync); 3] = [&export.0.as_slice(), &number(lines), &digest];
    transaction.execute(&importing.statement(mark::INSERT), &params).await.map_err(&failed)?;
    Ok(())
}

async fn let_in(
    transaction: &tokio_postgres::Transaction<'_>,
    own: &SchemaName,
    importing: &SchemaName,
    fold: &str,
    census: Census,
) -> Result<(), ImportError> {
    let failed = Fault::of("finish the import");
    let held = held(transaction, importing).await?;
    if held != census {
        // A name that two memos have is stored once.
        return Err(ImportError::Stored { found: held, told: census });
    }
    transaction.execute(fold, &[&i64::MAX]).await.map_err(&failed)?;
    transaction.execute(&importing.statement(NEXT_NUMBER), &[]).await.map_err(&failed)?;
    let close = format!(
        "ANALYZE {0}.jobs; DROP TABLE {0}.import; ALTER SCHEMA {0} RENAME TO {1}",
        importing.as_str(),
        own.as_str()
    );
    Ok(transaction.batch_execute(&close).await.map_err(&failed)?)
}

/// Lines, by what becomes of them.
struct Sorted {
    queues: Vec<Queue>,
    jobs: Vec<Moved>,
    desk: Desk,
    memos: Vec<MemoKey>,
    entries: Vec<(EntryKey, Revision)>,
    last_number: u64,
}

impl Sorted {
    fn of(items: Vec<Item>, rules: &Rules) -> Sorted {
        let (queues, jobs, memos, entries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let desk = Desk::new(rules.clone());
        let mut sorted = Sorted { queues, jobs, desk, memos, entries, last_number: 0 };
        for item in items {
            match item {
                Item::Queue(queue) => sorted.queues.push(queue),
                Item::Job(stored) => {
                    let turn = stored.turn.div_ceil(turn_of(1));
                    sorted.last_number = sorted.last_number.max(stored.seq).max(turn);
                    sorted.jobs.push(Moved { before: None, after: Some(*stored) });
                }
                Item::Entry(entry) => sorted.entries.push((entry.key, Some(entry.written))),
                Item::Memo(name, kept) => {
                    sorted.desk.lay_memo(name.clone(), kept);
                    sorted.memos.push(name);
                }
            }
        }
        sorted
    }
}

async fn held(client: &impl tokio_postgres::GenericClient, schema: &SchemaName) -> Result<Census, Fault> {
    let failed = Fault::of("look whether the schema is empty");
    let row = client.query_one(&schema.statement(HELD), &[]).await.map_err(&failed)?;
    let count = |column| row.try_get::<_, i64>(column).map(i64::unsigned_abs).map_err(&failed);
    Ok(Census { queues: count(0)?, jobs: count(1)?, memos: count(2)?, entries: count(3)? })
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Another server was faster than the look that was taken when the schema was opened.
fn refused(error: OpenError) -> ImportError {
    ImportError::Store(std::sync::Arc::new(error))
}

fn unsaved(error: StoreError) -> ImportError {
    ImportError::Store(std::sync::Arc::new(error))
}

impl fmt::Debug for PostgresTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Filling { schema, mark, .. } = &self.filling;
        f.debug_struct("PostgresTarget").field("schema", schema).field("mark", mark).finish_non_exhaustive()
    }
}
