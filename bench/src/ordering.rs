//! Jobs that run one after the other within each ordering key: more keys, more at a time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::clock::{self, Window};
use crate::job::{self, QUEUE};
use crate::load::{self, Pace};
use crate::request::{Numbers, Request};
use crate::server::Server;
use crate::tally::Tally;

/// The name by which `--only` finds this.
pub(crate) const NAME: &str = "ordering";

/// Numbers of keys to compare.
pub(crate) const KEYS: [usize; 4] = [1, 16, 256, 4096];
const CONNECTIONS: usize = 64;
/// More than can be fetched and acked.
const JOBS: usize = 120_000;
const BATCH: usize = 10_000;
/// Whoever finds every key busy waits for one.
const WAIT: Duration = Duration::from_secs(1);

/// Jobs fetched and acked in a second, under so many keys.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Ordered {
    pub(crate) keys: usize,
    pub(crate) jobs_per_second: f64,
}

pub(crate) async fn measure(
    server: &Server,
    keys: usize,
    numbers: &Arc<Numbers>,
    pace: Pace,
) -> Result<Ordered> {
    for first in (0..JOBS).step_by(BATCH) {
        let keyed = (first..first + BATCH).map(|index| format!(r#","ordering_key":"key-{}""#, index % keys));
        server.store(&job::mixed_batch(QUEUE, keyed), numbers).await?;
    }
    let window = Window::opening(pace.warm_up, pace.length);
    let mut tasks = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection = Connection::open(server.address()).await?;
        let fetch = Request::new(server.address(), &job::patient_fetch(QUEUE, WAIT));
        let ack = Request::new(server.address(), &job::ack());
        tasks.spawn(work(connection, fetch, ack, window));
    }
    Ok(Ordered { keys, jobs_per_second: load::sum(tasks, window).await?.per_second })
}

async fn work(mut connection: Connection, fetch: Request, mut ack: Request, window: Window) -> Result<Tally> {
    let mut tally = Tally::new(window);
    let mut started = clock::now();
    while started < window.until {
        let answer = connection.exchange(fetch.bytes()).await?;
        tally.check(&answer, 200);
        // With fewer keys than connections most find nothing to do.
        if let Some(id) = job::id_in(answer.body) {
            ack.set_id(id);
            let answer = connection.exchange(ack.bytes()).await?;
            tally.check(&answer, 200);
            tally.record(started, clock::now(), 1);
        }
        started = clock::now();
    }
    Ok(tally)
}
