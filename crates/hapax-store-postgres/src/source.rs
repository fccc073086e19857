//! A schema that is read from end to end as it is at one moment, while servers go on.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;

use futures_core::Stream as _;
use hapax_core::State;
use hapax_store::QueueFacts;
use hapax_store::portable::{Census, ExportError, Item, Queue, Source};
use tokio::runtime::Runtime;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::connect::{self, Link};
use crate::migrate::runtime;
use crate::schema::{self, VERSION};
use crate::statements::Statements;
use crate::{DatabaseUrl, Fault, OpenError, SchemaName, entry, memo, queue, row};

/// How many queues, or names of jobs, are asked for at a time.
const PAGE: i64 = 1000;

/// Whatever is written meanwhile, each statement sees what was there when the first one began.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off";
/// Names alone are put in order, because there is no index for it and whole jobs would fill a disk.
const PLACES: &str = "DECLARE places NO SCROLL CURSOR FOR SELECT id FROM hapax.jobs ORDER BY seq";
const ENTRY_COUNT: &str = "SELECT count(*) FROM hapax.entries";
const ENTRIES: &str =
    "SELECT register, name, body, due_at FROM hapax.entries ORDER BY register COLLATE \"C\", name";
const MEMO_COUNT: &str = "SELECT count(*) FROM hapax.memos";
const MEMOS: &str = "SELECT name, fingerprint, since, status, body FROM hapax.memos \
     ORDER BY since, name COLLATE \"C\"";

/// Everything in a schema.
pub struct PostgresSource {
    reading: Reading,
    runtime: Runtime,
}

struct Reading {
    link: Link,
    schema: SchemaName,
    statements: Statements,
}

impl PostgresSource {
    /// Looks at the schema, and from now on at what it holds at this moment. Blocks: not for use inside a runtime.
    pub fn open(database: &DatabaseUrl, schema: &SchemaName) -> Result<PostgresSource, OpenError> {
        let runtime = runtime()?;
        let reading = runtime.block_on(Reading::begin(database, schema))?;
        Ok(PostgresSource { reading, runtime })
    }
}

impl Source for PostgresSource {
    fn engine(&self) -> &'static str {
        "postgresql"
    }

    fn census(&mut self) -> Result<Census, ExportError> {
        Ok(self.runtime.block_on(self.reading.census())?)
    }

    fn show(&mut self, take: &mut dyn FnMut(Item) -> Result<(), ExportError>) -> Result<(), ExportError> {
        let PostgresSource { reading, runtime } = self;
        runtime.block_on(async {
            reading.queues(take).await?;
            reading.jobs(take).await?;
            reading.entries(take).await?;
            reading.memos(take).await
        })
    }
}

type Take<'t> = dyn FnMut(Item) -> Result<(), ExportError> + 't;

impl Reading {
    async fn begin(database: &DatabaseUrl, schema: &SchemaName) -> Result<Reading, OpenError> {
        let mut link = connect::open(database, None).await?;
        let looking = link.client_mut().transaction().await.map_err(Fault::of("look for the schema"))?;
        let found = schema::known_version(&looking, schema).await?;
        drop(looking);
        if found == 0 {
            return Err(OpenError::Nothing(schema.clone()));
        }
        if found < VERSION {
            return Err(OpenError::Older { schema: schema.clone(), found, known: VERSION });
        }
        link.client().batch_execute(BEGIN).await.map_err(Fault::of("begin to read"))?;
        let statements = Statements::of(schema);
        Ok(Reading { link, schema: schema.clone(), statements })
    }

    async fn query(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Fault> {
        self.link.client().query(sql, params).await.map_err(Fault::of("read"))
    }

    async fn census(&self) -> Result<Census, Fault> {
        let totals = self.query(&self.statements.totals, &[]).await?;
        let totals = totals.first().map(|row| queue::counts(row, 0)).transpose()?.unwrap_or_default();
        let count = async |sql: &str| -> Result<u64, Fault> {
            let rows = self.query(sql, &[]).await?;
            let number = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
            Ok(number.map_err(Fault::of("count"))?.map_or(0, i64::unsigned_abs))
        };
        Ok(Census {
            queues: count(&self.statements.queue_count).await?,
            jobs: State::ALL.into_iter().map(|state| totals.of(state)).sum(),
            entries: count(&self.schema.statement(ENTRY_COUNT)).await?,
            memos: count(&self.schema.statement(MEMO_COUNT)).await?,
        })
    }

    async fn queues(&self, take: &mut Take<'_>) -> Result<(), ExportError> {
        let mut last: Option<String> = None;
        loop {
            let rows = self.query(&self.statements.queues, &[&last, &0_i64, &PAGE]).await?;
            for row in &rows {
                let QueueFacts { name, paused, created_at, counts: _ } = queue::read(row)?;
                last = Some(name.as_str().to_owned());
                take(Item::Queue(Queue { name, paused, created_at }))?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    async fn jobs(&self, take: &mut Take<'_>) -> Result<(), ExportError> {
        let client = self.link.client();
        let places = self.schema.statement(PLACES);
        client.batch_execute(&places).await.map_err(Fault::of("put jobs in order"))?;
        let page = format!("FETCH {PAGE} FROM places");
        loop {
            let rows = self.query(&page, &[]).await?;
            let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>();
            let ids = ids.map_err(Fault::of("put jobs in order"))?;
            if ids.is_empty() {
                return Ok(());
            }
            let mut show = |row: &Row| take(Item::Job(Box::new(row::read(row, 0)?)));
            self.stream(&self.statements.jobs, &[&ids], &mut show).await?;
        }
    }

    async fn entries(&self, take: &mut Take<'_>) -> Result<(), ExportError> {
        let mut show = |row: &Row| take(Item::Entry(entry::read(row)?));
        self.stream(&self.schema.statement(ENTRIES), &[], &mut show).await
    }

    async fn memos(&self, take: &mut Take<'_>) -> Result<(), ExportError> {
        let mut show = |row: &Row| {
            let (name, kept) = memo::read(row)?;
            take(Item::Memo(name, kept))
        };
        self.stream(&self.schema.statement(MEMOS), &[], &mut show).await
    }

    /// Shows rows as they arrive. No more of them wait here than the connection holds, however large they are.
    async fn stream(
        &self,
        sql: &str,
        params: &[&(dyn ToSql + Sync)],
        show: &mut (dyn FnMut(&Row) -> Result<(), ExportError> + '_),
    ) -> Result<(), ExportError> {
        let failed = Fault::of("read");
        let statement = self.link.prepare(sql).await?;
        let params = params.iter().map(|param| *param as &(dyn ToSql + Sync));
        let rows = self.link.client().query_raw(&statement, params).await.map_err(&failed)?;
        let mut rows = pin!(rows);
        while let Some(row) = poll_fn(|context| rows.as_mut().poll_next(context)).await {
            show(&row.map_err(&failed)?)?;
        }
        Ok(())
    }
}

impl fmt::Debug for PostgresSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSource").field("schema", &self.reading.schema).finish_non_exhaustive()
    }
}
