//! Connections: opened when they are wanted, kept for the next, closed when anything went wrong on them.

mod encryption;

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Notification, Statement};

use crate::row::Shape;
use crate::{DatabaseUrl, Fault};

/// How long a connection may take to be made, unless the URL says.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long a caller waits for a free connection.
const PLACE_TIME: Duration = Duration::from_secs(10);

/// Connections to one database, at most so many at a time.
pub(crate) struct Pool {
    database: DatabaseUrl,
    idle: Mutex<Vec<Link>>,
    places: Semaphore,
}

/// A connection, with the statements that are ready on it.
pub(crate) struct Link {
    client: Client,
    statements: Mutex<HashMap<Box<str>, Statement>>,
    /// Those that write rows, by the shape of the rows: their texts are long.
    writers: Mutex<HashMap<Shape, Statement>>,
    /// Set when the database says that a commit may be missing on its standby.
    unreplicated: Arc<AtomicBool>,
}

/// A connection of the pool, in use. Dropped, it is closed, and the database undoes what was under way on it: nobody may
/// be given one in the middle of a transaction.
pub(crate) struct Borrowed<'p> {
    link: Link,
    lender: Lender<'p>,
}

/// The pool of a connection in use.
struct Lender<'p> {
    pool: &'p Pool,
    _place: SemaphorePermit<'p>,
}

impl Pool {
    pub(crate) fn new(database: DatabaseUrl, connections: usize) -> Pool {
        Pool { database, idle: Mutex::default(), places: Semaphore::new(connections) }
    }

    /// A connection. Waits for a free one, but not for ever: a database that hangs must not hang its callers.
    pub(crate) async fn connection(&self) -> Result<Borrowed<'_>, Fault> {
        let place = tokio::time::timeout(PLACE_TIME, self.places.acquire()).await;
        let place = place.map_err(|_| Fault::NoPlace)?.map_err(|_| Fault::NoPlace)?;
        let idle = self.take_idle();
        let link = match idle {
            Some(link) => link,
            None => open(&self.database, None).await?,
        };
        Ok(Borrowed { link, lender: Lender { pool: self, _place: place } })
    }

    fn take_idle(&self) -> Option<Link> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The newest is the one that most likely still lives.
        std::iter::from_fn(|| idle.pop()).find(|link| !link.client.is_closed())
    }

    /// Closes what nobody uses.
    pub(crate) fn close(&self) {
        self.places.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Link {
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// The statement, ready: asks the database only for the first time on this connection.
    pub(crate) async fn prepare(&self, sql: &str) -> Result<Statement, Fault> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await.map_err(Fault::of("prepare a statement"))?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// The statement that writes rows of that shape, ready.
    pub(crate) async fn prepare_shape(
        &self,
        shape: Shape,
        sql: impl FnOnce() -> String,
    ) -> Result<Statement, Fault> {
        let known = self.writers.lock().unwrap_or_else(PoisonError::into_inner).get(&shape).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(&sql()).await.map_err(Fault::of("prepare a statement"))?;
        self.writers.lock().unwrap_or_else(PoisonError::into_inner).insert(shape, statement.clone());
        Ok(statement)
    }

    /// Whether the database has warned of a commit since this was asked last.
    pub(crate) fn was_warned(&self) -> bool {
        self.unreplicated.swap(false, Ordering::AcqRel)
    }
}

impl Borrowed<'_> {
    /// Gives it back, with nothing under way on it.
    pub(crate) fn keep(self) {
        let Borrowed { link, lender } = self;
        let pool = lender.pool;
        if !link.client.is_closed() && !pool.places.is_closed() {
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(link);
        }
    }

    /// Closes it after a failure. If the way to the database broke, the other connections broke as well.
    pub(crate) fn give_up(self, fault: &Fault) {
        if fault.is_of_the_connection() {
            self.lender.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

impl std::ops::Deref for Borrowed<'_> {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.link
    }
}

/// Opens a connection. Notifications go to whoever wants to hear them.
pub(crate) async fn open(
    database: &DatabaseUrl,
    heard: Option<mpsc::Sender<Notification>>,
) -> Result<Link, Fault> {
    let mut config = database.config().clone();
    if config.get_application_name().is_none() {
        config.application_name("hapax");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIME);
    }
    let failed = Fault::of("be reached");
    let unreplicated = Arc::new(AtomicBool::new(false));
    let client = if config.get_ssl_mode() == SslMode::Require {
        let (client, connection) = config.connect(encryption::connector()?).await.map_err(&failed)?;
        tokio::spawn(drive(connection, Arc::clone(&unreplicated), heard));
        client
    } else {
        let (client, connection) = config.connect(NoTls).await.map_err(&failed)?;
        tokio::spawn(drive(connection, Arc::clone(&unreplicated), heard));
        client
    };
    Ok(Link { client, statements: Mutex::default(), writers: Mutex::default(), unreplicated })
}

/// Whether it says that the wait for a synchronous standby was cut short. Other warnings have the same code, such as the one
/// about the version of collations that comes with every connection after an upgrade of the machine.
fn is_of_the_standby(notice: &DbError) -> bool {
    *notice.code() == SqlState::WARNING
        && notice.routine().is_none_or(|routine| routine == "SyncRepWaitForLSN")
}

/// Moves the messages of a connection until it ends. It ends when its client is gone.
async fn drive<S, T>(
    mut connection: Connection<S, T>,
    unreplicated: Arc<AtomicBool>,
    heard: Option<mpsc::Sender<Notification>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    // An error ends it too; whoever waits for an answer on it hears of that.
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            AsyncMessage::Notice(notice) if is_of_the_standby(&notice) => {
                unreplicated.store(true, Ordering::Release);
            }
            AsyncMessage::Notification(word) => {
                if let Some(heard) = &heard
                    && heard.send(word).await.is_err()
                {
                    return;
                }
            }
            _ => {}
        }
    }
}
