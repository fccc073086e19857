//! Many jobs that are due at one moment: how long until workers could have all of them.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::client::Connection;
use crate::clock;
use crate::job::{self, QUEUE};
use crate::request::Numbers;
use crate::server::Server;

/// The name by which `--only` finds this.
pub(crate) const NAME: &str = "scheduled";

const JOBS: usize = 100_000;
/// Jobs per request.
const BATCH: usize = 10_000;
/// All have to be stored before this is over.
const LEAD: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_mins(1);

/// From the moment at which the jobs were due until the last was available.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Scheduled {
    pub(crate) jobs: usize,
    pub(crate) seconds: f64,
}

pub(crate) async fn measure(server: &Server, numbers: &Numbers) -> Result<Scheduled> {
    let (due, moment) = (clock::now() + LEAD, clock::moment_in(LEAD)?);
    let options = format!(r#","scheduled_at":"{moment}""#);
    let batch = job::mixed_batch(QUEUE, std::iter::repeat_n(options, BATCH));
    for _ in 0..JOBS / BATCH {
        server.store(&batch, numbers).await?;
    }
    ensure!(clock::now() < due, "{JOBS} jobs could not be stored in {LEAD:?}");
    let waiting = waiting(server, &mut Connection::open(server.address()).await?).await?;
    ensure!(waiting == JOBS as u64, "{waiting} of {JOBS} jobs wait for their moment");
    clock::pause(due - clock::now()).await;
    // The server lets go of connections that are silent for so long.
    let mut connection = Connection::open(server.address()).await?;
    while self::waiting(server, &mut connection).await? > 0 {
        ensure!(clock::now() < due + PATIENCE, "jobs are still not available after {PATIENCE:?}");
        clock::pause(LOOK_EVERY).await;
    }
    Ok(Scheduled { jobs: JOBS, seconds: (clock::now() - due).as_secs_f64() })
}

/// How many jobs are scheduled.
async fn waiting(server: &Server, connection: &mut Connection) -> Result<u64> {
    let request = format!("GET /ojs/v1/queues/{QUEUE} HTTP/1.1\r\nhost: {}\r\n\r\n", server.address());
    let answer = connection.exchange(request.as_bytes()).await?;
    job::count_in(answer.body, "scheduled").context("an answer without the number of scheduled jobs")
}
