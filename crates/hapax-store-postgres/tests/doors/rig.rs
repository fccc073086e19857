//! Both doors over stores of their own, with one clock: HTTP over the reference store, SQL over PostgreSQL.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hapax_broker::{Broker, Clock, Entropy};
use hapax_core::unique::{Ledger, LedgerEntry};
use hapax_core::{Chance, Event, Job, JobId, LeaseToken, QueueName, Rules, Timestamp, next_due};
use hapax_http::{Config, Limits, Metrics};
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::suite::wait;
use hapax_store::{Action, Change, Claim, MemoryStore, Op, QueueQuery, Store};
use hapax_store_postgres::{PostgresStore, Settings};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

use crate::post::Post;
use crate::said::Said;

const START: i64 = 1_800_000_000_000;
/// Half of all that chance may be: the jitter of a pause is none then.
const CHANCE: Chance = Chance(1 << 63);

#[derive(Debug)]
struct Hands(AtomicI64);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct Dice(AtomicU64);

impl Entropy for Dice {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        // Chance has eight bytes, the lowest first; ids and tokens have more.
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        match bytes {
            [_, _, _, _, _, _, _, high] => *high = 0x80,
            _ => bytes.iter_mut().rev().zip(count.to_le_bytes()).for_each(|(byte, digit)| *byte = digit),
        }
    }
}

pub(crate) struct Rig {
    pub(crate) memory: Arc<dyn Store>,
    pub(crate) postgres: Arc<dyn Store>,
    pub(crate) client: Client,
    pub(crate) runtime: Runtime,
    /// Dropped last.
    _database: Database,
    post: Post,
    /// To a server over PostgreSQL.
    other_post: Post,
    clock: Arc<Hands>,
    claims: u8,
}

/// A connection to the database.
pub(crate) fn connect(runtime: &Runtime, url: &str) -> Client {
    let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).unwrap();
    runtime.spawn(async move { drop(connection.await) });
    client
}

/// The HTTP binding over a store, for as long as the runtime lives.
pub(crate) fn serve(runtime: &Runtime, store: &Arc<dyn Store>, clock: Arc<dyn Clock>) -> SocketAddr {
    let (metrics, entropy) = (Metrics::new(), Arc::new(Dice(AtomicU64::new(0))));
    let broker = Broker::new(Arc::clone(store), clock, entropy, Rules::default(), metrics.broker_observer());
    let config = Config {
        keys: Vec::new(),
        conformance: false,
        entrance: hapax_http::Entrance::default(),
        limits: Limits::default(),
        backend: "test",
        durable: false,
        version: "0",
    };
    let reserved = hapax_http::reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let bound = runtime.block_on(async { hapax_http::listen(reserved, config, broker, metrics) }).unwrap();
    let address = bound.local_addr().unwrap();
    runtime.spawn(bound.serve(std::future::pending()));
    address
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

impl Rig {
    pub(crate) fn new() -> Rig {
        let rules = Rules::default();
        let database = Cluster::shared().database();
        let settings = Settings::new(database.url().parse().unwrap(), rules.clone());
        let postgres: Arc<dyn Store> = Arc::new(PostgresStore::open(settings).unwrap());
        let memory: Arc<dyn Store> = Arc::new(MemoryStore::new(rules));
        let runtime = runtime();
        let clock = Arc::new(Hands(AtomicI64::new(START)));
        let [post, other_post] = [&memory, &postgres].map(|store| {
            let hands: Arc<dyn Clock> = Arc::<Hands>::clone(&clock);
            Post::to(serve(&runtime, store, hands))
        });
        let client = connect(&runtime, &database.url());
        let claims = 0;
        let rig =
            Rig { memory, postgres, client, runtime, _database: database, post, other_post, clock, claims };
        rig.batch(
            "CREATE OR REPLACE FUNCTION hapax.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS \
             $$ SELECT current_setting('test.now')::bigint $$; \
             CREATE OR REPLACE FUNCTION hapax.chance() RETURNS double precision LANGUAGE sql VOLATILE AS \
             $$ SELECT 0.5::double precision $$",
        );
        rig.set_clock();
        rig
    }

    pub(crate) fn batch(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn set_clock(&self) {
        self.batch(&format!("SET test.now = '{}'", self.now().millis()));
    }

    pub(crate) fn pass(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
        self.set_clock();
    }

    /// The text as jsonb prints it: what both doors are given.
    pub(crate) fn printed(&self, text: &str) -> String {
        self.text("SELECT $1::text::jsonb::text", &[&text]).unwrap()
    }

    fn text(
        &self,
        sql: &str,
        params: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<String, tokio_postgres::Error> {
        self.runtime.block_on(async {
            let statement = self.client.prepare(sql).await?;
            self.client.query_one(&statement, params).await.and_then(|row| row.try_get(0))
        })
    }

    /// What a SQL function says.
    pub(crate) fn sql(&self, sql: &str, params: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Said {
        let answer = self.text(sql, params);
        match &answer {
            Ok(text) => Said::over_sql(Ok(text.clone())),
            Err(error) => Said::over_sql(Err(error.as_db_error().unwrap())),
        }
    }

    /// What the HTTP binding says.
    pub(crate) fn http(&mut self, method: &str, path: &str, body: &str) -> Said {
        Said::over_http(self.post.send(method, path, body))
    }

    /// Enqueues through both doors, which have to say the same.
    pub(crate) fn enqueue(&mut self, job: &str) -> Said {
        let printed = self.printed(job);
        let over_http = if printed.starts_with('[') {
            self.http("POST", "/ojs/v1/jobs/batch", &format!("{{\"jobs\": {printed}}}"))
        } else {
            self.http("POST", "/ojs/v1/jobs", &printed)
        };
        let over_sql = self.sql("SELECT hapax.enqueue($1::text::jsonb)::text", &[&printed]);
        assert_eq!(over_sql, over_http, "SQL left, HTTP right, for {printed}");
        over_http
    }

    /// Enqueues over HTTP in both stores: what a server wrote, SQL has to understand later.
    pub(crate) fn enqueue_by_server(&mut self, job: &str) -> Said {
        self.by_server("/ojs/v1/jobs", job)
    }

    /// A failure that is told over HTTP in both stores.
    pub(crate) fn fail_by_server(&mut self, body: &str) -> Said {
        self.by_server("/ojs/v1/workers/nack", body)
    }

    fn by_server(&mut self, path: &str, body: &str) -> Said {
        let said = self.http("POST", path, body);
        let other = Said::over_http(self.other_post.send("POST", path, body));
        assert_eq!(other, said, "PostgreSQL left, the reference right, for {body}");
        said
    }

    /// Ends an attempt through both doors.
    pub(crate) fn complete(&mut self, id: JobId, lease: &str, result: Option<&str>) -> Said {
        let printed = result.map(|result| self.printed(result));
        let shown = printed.clone().unwrap_or_else(|| "null".to_owned());
        let body = format!("{{\"job_id\": \"{id}\", \"lease\": \"{lease}\", \"result\": {shown}}}");
        let over_http = self.http("POST", "/ojs/v1/workers/ack", &body);
        let sql = "SELECT hapax.complete($1::text::uuid, $2, $3::text::jsonb)::text";
        let over_sql = self.sql(sql, &[&id.to_string(), &lease, &printed]);
        assert_eq!(over_sql, over_http, "SQL left, HTTP right, for {body}");
        over_http
    }

    /// The same for a failure.
    pub(crate) fn fail(&mut self, id: JobId, lease: &str, error: Option<&str>, requeue: bool) -> Said {
        let printed = error.map(|error| self.printed(error));
        let shown = printed.clone().unwrap_or_else(|| "null".to_owned());
        let body = format!(
            "{{\"job_id\": \"{id}\", \"lease\": \"{lease}\", \"error\": {shown}, \"requeue\": {requeue}}}"
        );
        let over_http = self.http("POST", "/ojs/v1/workers/nack", &body);
        let sql = "SELECT hapax.fail($1::text::uuid, $2, $3::text::jsonb, $4)::text";
        let over_sql = self.sql(sql, &[&id.to_string(), &lease, &printed, &requeue]);
        assert_eq!(over_sql, over_http, "SQL left, HTTP right, for {body}");
        over_http
    }

    /// Removes a job key; over HTTP it is an error if nobody has it.
    pub(crate) fn remove(&mut self, name: &str) -> Said {
        let over_http = self.http("DELETE", &format!("/ojs/v1/job-keys/{name}"), "");
        let over_sql = self.sql("SELECT hapax.remove_job($1)::text", &[&name]);
        if matches!(&over_http, Said::Refused(code, ..) if code == "not_found") {
            assert_eq!(over_sql.at("/removed"), Some(&serde_json::json!([])));
            assert_eq!(over_sql.at("/released"), Some(&serde_json::json!([])));
        } else {
            assert_eq!(over_sql, over_http, "SQL left, HTTP right, for {name}");
        }
        over_http
    }

    /// Lets a worker fetch from both stores, which have to give out the same job.
    pub(crate) fn claim(&mut self, queue: &str) -> Option<(JobId, String)> {
        self.claims = self.claims.wrapping_add(1);
        let token = LeaseToken::new([self.claims; 16]);
        let claim = Claim {
            now: self.now(),
            queues: vec![QueueName::parse(queue).unwrap()],
            count: 1,
            worker: None,
            token,
            visibility_timeout: None,
            tenant: None,
        };
        let [memory, postgres] = [&self.memory, &self.postgres]
            .map(|store| ids(&wait(store.claim(claim.clone())).unwrap().changes));
        assert_eq!(postgres, memory, "jobs wait in one order");
        let active = memory.into_iter().rfind(|(_, state)| *state == "active" || *state == "completed");
        active.map(|(id, _)| (id, token.to_string()))
    }

    /// Lets happen in both stores what is due.
    pub(crate) fn advance(&self) {
        let stores = [&self.memory, &self.postgres];
        let [memory, postgres] =
            stores.map(|store| ids(&wait(store.advance(self.now(), 100_000, CHANCE)).unwrap().changes));
        assert_eq!(postgres, memory, "the same happens by itself");
    }

    /// Lets something else happen in both stores.
    pub(crate) fn step(&self, id: JobId, event: &Event) {
        let op = || Op { now: self.now(), action: Action::Step { id, event: event.clone() } };
        for store in [&self.memory, &self.postgres] {
            drop(wait(store.commit(vec![op()])).unwrap());
        }
    }

    /// A job is the same in both stores, and so is the moment at which something happens to it by itself.
    pub(crate) fn compare(&self, id: JobId) -> Option<Job> {
        let [memory, postgres] =
            [&self.memory, &self.postgres].map(|store| wait(store.get(id)).unwrap().map(anonymous));
        assert_eq!(postgres, memory, "PostgreSQL left, the reference right");
        memory
    }

    /// Everything is the same in both stores.
    pub(crate) fn compare_all(&self, known: &[JobId]) {
        let rows = self.runtime.block_on(self.client.query("SELECT id::text, due_at FROM hapax.jobs", &[]));
        let rows = rows.unwrap();
        let due: BTreeMap<String, Option<i64>> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut found = 0;
        for id in known {
            let Some(job) = self.compare(*id) else { continue };
            found += 1;
            let expected = next_due(&job, &Rules::default()).map(Timestamp::millis);
            assert_eq!(due[&id.to_string()], expected, "the timer of {job:?}");
        }
        assert_eq!(due.len(), found, "no job is in one store only");
        let stores = [&self.memory, &self.postgres];
        let [memory, postgres] = stores.map(|store| wait(store.totals()).unwrap());
        assert_eq!(postgres, memory);
        let query = || QueueQuery { after: None, offset: 0, limit: 100 };
        let [memory, postgres] = stores.map(|store| wait(store.queues(query())).unwrap());
        assert_eq!(postgres, memory);
    }
}

fn ids(changes: &[Change]) -> Vec<(JobId, &'static str)> {
    let id = |change: &Change| match change {
        Change::To { job, .. } => (job.id, job.state().name()),
        Change::Removed { job, .. } => (job.id, "removed"),
    };
    changes.iter().map(id).collect()
}

/// Requests have names over HTTP only.
fn anonymous(mut job: Job) -> Job {
    let entry = |entry: &LedgerEntry| LedgerEntry { request_id: None, ..entry.clone() };
    job.ledger = Ledger::restored(job.ledger.count(), job.ledger.recent().iter().map(entry).collect());
    job
}
