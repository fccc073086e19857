//! The database's ceiling: the same job bytes inserted into a table with a primary key, through the driver that the
//! server uses, one commit per group.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use hapax_pg_cluster::{Cluster, Database};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::clock::{self, Window};
use crate::job::JOB_BYTES;
use crate::load::{self, Pace};
use crate::tally::Tally;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS bare (id uuid PRIMARY KEY, job text NOT NULL); TRUNCATE bare";
const ONE: &str = "INSERT INTO bare (id, job) VALUES ($1, $2)";
const MANY: &str = "INSERT INTO bare (id, job) SELECT * FROM unnest($1::uuid[], $2::text[])";

#[derive(Debug)]
pub(crate) struct Inserts {
    database: Database,
    /// Ids that grow, as those of jobs do.
    ids: AtomicU64,
}

impl Inserts {
    pub(crate) fn create(cluster: &Cluster) -> Self {
        Self { database: cluster.database(), ids: AtomicU64::new(1) }
    }

    /// Jobs per second over so many connections, each with one commit per group.
    pub(crate) async fn jobs_per_second(
        self: &Arc<Self>,
        connections: usize,
        group: usize,
        pace: Pace,
    ) -> Result<f64> {
        self.connect().await?.batch_execute(TABLE).await?;
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(self.connect().await?);
        }
        let window = Window::opening(pace.warm_up, pace.length);
        let mut tasks = JoinSet::new();
        for client in clients {
            tasks.spawn(Arc::clone(self).insert(client, group, window));
        }
        Ok(load::sum(tasks, window).await?.per_second)
    }

    async fn insert(self: Arc<Self>, client: Client, group: usize, window: Window) -> Result<Tally> {
        let (one, many) = (client.prepare(ONE).await?, client.prepare(MANY).await?);
        let job = "x".repeat(JOB_BYTES);
        let jobs = vec![job.as_str(); group];
        let mut tally = Tally::new(window);
        let mut ended = clock::now();
        while ended < window.until {
            let started = ended;
            let ids: Vec<Uuid> = (0..group).map(|_| self.id()).collect();
            match ids.as_slice() {
                [id] => client.execute(&one, &[id, &job]).await?,
                ids => client.execute(&many, &[&ids, &jobs]).await?,
            };
            ended = clock::now();
            tally.record(started, ended, group as u64);
        }
        Ok(tally)
    }

    fn id(&self) -> Uuid {
        Uuid::from_u64_pair(self.ids.fetch_add(1, Ordering::Relaxed), 0)
    }

    async fn connect(&self) -> Result<Client> {
        let (client, connection) = tokio_postgres::connect(&self.database.url(), NoTls).await?;
        // It ends with its client; whoever waits for an answer on it hears of a failure.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}
