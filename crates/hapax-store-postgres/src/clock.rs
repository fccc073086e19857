//! The time of the database: all servers on it share one clock, whatever their own say.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hapax_core::Timestamp;

use crate::Fault;
use crate::store::Engine;

/// How often the clock of the database is asked.
const ASKED_EVERY: Duration = Duration::from_secs(5);

/// The clock of the database, as far as it was heard last, carried on by a clock that cannot be set.
#[derive(Debug, Clone)]
pub struct DatabaseClock(Arc<Mutex<Heard>>);

#[derive(Debug, Clone, Copy)]
struct Heard {
    time: Timestamp,
    at: Instant,
}

impl DatabaseClock {
    /// Asks for the first time.
    pub(crate) async fn ask_first(
        client: &tokio_postgres::Client,
        sql: &str,
    ) -> Result<DatabaseClock, Fault> {
        Ok(DatabaseClock(Arc::new(Mutex::new(ask(client, sql).await?))))
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        let Heard { time, at } = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        time + at.elapsed()
    }

    /// Asks again now and then, for as long as the engine runs. While the database is away, the last answer goes on.
    #[expect(clippy::disallowed_methods, reason = "nothing tells when a clock was set")]
    pub(crate) async fn follow(engine: Arc<Engine>) {
        loop {
            tokio::time::sleep(ASKED_EVERY).await;
            let Ok(link) = engine.pool.connection().await else { continue };
            if let Ok(heard) = ask(link.client(), &engine.statements.clock).await {
                link.keep();
                *engine.clock.0.lock().unwrap_or_else(PoisonError::into_inner) = heard;
            }
        }
    }
}

/// The answer is half a round trip old when it arrives.
#[expect(clippy::disallowed_methods, reason = "measures the round trip")]
async fn ask(client: &tokio_postgres::Client, sql: &str) -> Result<Heard, Fault> {
    let failed = Fault::of("tell the time");
    let before = Instant::now();
    let row = client.query_one(sql, &[]).await.map_err(&failed)?;
    let at = Instant::now();
    let millis: i64 = row.try_get(0).map_err(&failed)?;
    Ok(Heard { time: Timestamp::from_millis(millis) + (at - before) / 2, at })
}
