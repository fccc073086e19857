//! Opening a store: reach the database, bring its tables up to date, start the lanes.

use std::sync::Arc;

use hapax_store::portable::Census;
use tokio::runtime;
use tokio::sync::{Semaphore, mpsc};

use crate::connect::{self, Pool};
use crate::crowd::Crowds;
use crate::fresh::Hope;
use crate::lane;
use crate::schema;
use crate::statements::Statements;
use crate::store::{Engine, PostgresStore, Tasks};
use crate::word::{self, Word};
use crate::{DatabaseClock, Fault, SchemaName, Settings};

/// How many requests may wait for a lane.
const REQUESTS_WAITING_MAX: usize = 8192;
/// How many requests wait for the locks of others at a time.
const PATIENT_MAX: usize = 4;
/// How many requests that share no transaction are carried out at a time.
const RARE_MAX: usize = 2;
/// Decisions are quick and the rest is waiting, so that few threads suffice.
const THREADS: usize = 2;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database could not be reached or did not do what was asked.
    #[error("the database cannot be used")]
    Database(#[from] Fault),
    /// A later version of this program was here.
    #[error("the schema {} has version {found}; this program knows versions up to {known}", .schema.as_str())]
    Newer {
        /// Which schema.
        schema: SchemaName,
        /// Its version.
        found: i32,
        /// The newest one known here.
        known: i32,
    },
    /// There is nothing that could be read.
    #[error("there is no store in the schema {}", .0.as_str())]
    Nothing(SchemaName),
    /// An earlier version of this program was here last, and what is only read is not brought up to date.
    #[error("the schema {} has version {found}; what is exported must have version {known}", .schema.as_str())]
    Older {
        /// Which schema.
        schema: SchemaName,
        /// Its version.
        found: i32,
        /// The one known here.
        known: i32,
    },
    /// Something is there, where only an empty store will do.
    #[error("the schema {} is not empty: it holds {held}", .schema.as_str())]
    NotEmpty {
        /// Which schema.
        schema: SchemaName,
        /// What is there.
        held: Census,
    },
    /// An import was begun and not finished.
    #[error("an import into the schema {} was begun and is not finished", .0.as_str())]
    Unfinished(SchemaName),
    /// The machine gives no threads.
    #[error("the engine's threads could not be started")]
    Threads(#[source] std::io::Error),
}

impl PostgresStore {
    /// Opens the store and brings its tables up to date. Blocks meanwhile: not for use inside a runtime.
    pub fn open(settings: Settings) -> Result<PostgresStore, OpenError> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("hapax-postgres")
            .enable_all()
            .build()
            .map_err(OpenError::Threads)?;
        let engine = runtime.block_on(reach(settings, runtime.handle().clone()))?;
        let engine = Arc::new(engine);
        let (commits, waiting) = mpsc::channel(REQUESTS_WAITING_MAX);
        engine.tasks.spawn(lane::commits(Arc::clone(&engine), waiting));
        let (claims, waiting) = mpsc::channel(REQUESTS_WAITING_MAX);
        engine.tasks.spawn(lane::claims(Arc::clone(&engine), waiting));
        // These end with the runtime.
        runtime.spawn(DatabaseClock::follow(Arc::clone(&engine)));
        runtime.spawn(word::send(Arc::clone(&engine)));
        runtime.spawn(word::hear(Arc::clone(&engine)));
        Ok(PostgresStore::new(engine, commits, claims, runtime))
    }
}

async fn reach(settings: Settings, handle: runtime::Handle) -> Result<Engine, OpenError> {
    let mut link = connect::open(&settings.database, None).await?;
    schema::migrate(link.client_mut(), &settings.schema).await?;
    let statements = Statements::of(&settings.schema);
    schema::write_rules(link.client(), &statements.rules, &settings.rules).await?;
    let clock = DatabaseClock::ask_first(link.client(), &statements.clock).await?;
    let name = name(link.client()).await?;
    let pool = Pool::new(settings.database.clone(), settings.connections);
    let (patient, tasks) = (Semaphore::new(PATIENT_MAX), Tasks::new(handle));
    Ok(Engine {
        settings,
        pool,
        statements,
        patient,
        rare: Semaphore::new(RARE_MAX),
        crowds: Crowds::default(),
        tasks,
        clock,
        word: Word::default(),
        hope: Hope::default(),
        name,
    })
}

/// A name that no other server has.
async fn name(client: &tokio_postgres::Client) -> Result<String, Fault> {
    let failed = Fault::of("give this server a name");
    let row = client.query_one("SELECT gen_random_uuid()::text", &[]).await.map_err(&failed)?;
    row.try_get(0).map_err(&failed)
}
