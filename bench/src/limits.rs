//! Claims from a queue whose jobs share many rate limits, beside those from one without limits.

use std::sync::Arc;

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
pub(crate) const NAME: &str = "limits";

pub(crate) const KEYS: usize = 10_000;
/// Jobs of each key. All of them together are more than can be claimed.
const JOBS_PER_KEY: usize = 20;
const CONNECTIONS: usize = 16;

/// What the jobs of a queue are limited by. Nothing is ever held back, so that all measure the same claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limited {
    No,
    /// How many run at a time: seen from the jobs.
    ByConcurrency,
    /// How many start in a while: remembered on disk.
    ByRate,
}

/// Claims in a second, and the time of one as a multiple of that without limits.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Limits {
    pub(crate) keys: usize,
    pub(crate) plain_per_second: f64,
    pub(crate) concurrency_per_second: f64,
    pub(crate) concurrency_cost: f64,
    pub(crate) rate_per_second: f64,
    pub(crate) rate_cost: f64,
}

impl Limited {
    fn options(self, key: usize) -> String {
        let limit = match self {
            Self::No => return String::new(),
            Self::ByConcurrency => format!(r#""concurrency":{}"#, 2 * JOBS_PER_KEY),
            Self::ByRate => format!(r#""rate":{{"limit":{},"period":"PT1M"}}"#, 2 * JOBS_PER_KEY),
        };
        format!(r#","rate_limit":{{"key":"tenant-{key}",{limit}}}"#)
    }
}

/// How many jobs are claimed in a second.
pub(crate) async fn claims_per_second(
    server: &Server,
    limited: Limited,
    numbers: &Arc<Numbers>,
    pace: Pace,
) -> Result<f64> {
    let batch = job::mixed_batch(QUEUE, (0..KEYS).map(|key| limited.options(key)));
    for _ in 0..JOBS_PER_KEY {
        server.store(&batch, numbers).await?;
    }
    let window = Window::opening(pace.warm_up, pace.length);
    let mut tasks = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection = Connection::open(server.address()).await?;
        let fetch = Request::new(server.address(), &job::fetch(QUEUE));
        tasks.spawn(claim(connection, fetch, window));
    }
    Ok(load::sum(tasks, window).await?.per_second)
}

async fn claim(mut connection: Connection, fetch: Request, window: Window) -> Result<Tally> {
    let mut tally = Tally::new(window);
    let mut started = clock::now();
    while started < window.until {
        let answer = connection.exchange(fetch.bytes()).await?;
        let ended = clock::now();
        if job::id_in(answer.body).is_none() {
            tally.surprise("expected a job, since some must wait", &answer);
            break;
        }
        tally.record(started, ended, 1);
        started = ended;
    }
    Ok(tally)
}
