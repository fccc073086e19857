//! What many jobs leave behind in the tables of a database: their size once they have passed and vacuum has run, beside that
//! of the same rows written afresh.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hapax_pg_cluster::Database;
use serde::Serialize;

use crate::job::QUEUE;
use crate::load::{Load, Pace};
use crate::report;
use crate::request::Numbers;
use crate::server::Server;

/// The name by which `--only` finds this.
pub(crate) const NAME: &str = "churn";

const CONNECTIONS: usize = 64;
/// Jobs that wait at the beginning of each turn: more than can be fetched and acked in one.
const WAITING: u64 = 100_000;
const PACE: Pace = Pace { warm_up: Duration::ZERO, length: Duration::from_secs(2) };
const SIZE: &str = "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = 'hapax' AND c.relkind = 'r'";

/// Bytes of all tables and their indexes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Churn {
    pub(crate) passed: u64,
    pub(crate) bytes: u64,
    pub(crate) fresh_bytes: u64,
}

impl Churn {
    #[expect(clippy::cast_precision_loss, reason = "sizes far below 2^52")]
    pub(crate) fn times(self) -> f64 {
        self.bytes as f64 / self.fresh_bytes as f64
    }
}

/// Lets so many jobs be enqueued, fetched and acked.
pub(crate) async fn measure(
    mut server: Server,
    database: &Database,
    jobs: u64,
    numbers: &Arc<Numbers>,
) -> Result<Churn> {
    let load = Load {
        address: server.address(),
        connections: CONNECTIONS,
        pace: PACE,
        numbers: Arc::clone(numbers),
    };
    let mut passed = 0;
    while passed < jobs {
        server.fill(WAITING, numbers).await?;
        let change = load.pairs(QUEUE).await?.waiting_change;
        ensure!(change < 0, "nothing was fetched");
        server.count_change(change);
        passed += change.unsigned_abs();
        report::progress(&format!("{passed} of {jobs} jobs have passed"));
    }
    drop(server);
    // What autovacuum does in its own time.
    database.query("VACUUM")?;
    let bytes = size(database)?;
    database.query("VACUUM FULL")?;
    Ok(Churn { passed, bytes, fresh_bytes: size(database)? })
}

fn size(database: &Database) -> Result<u64> {
    database.query(SIZE)?.trim().parse().context("the size of the tables")
}
