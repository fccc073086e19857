//! Servers hear of jobs that transactions of the users made available, in schemas of any name.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hapax_core::Rules;
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::Store;
use hapax_store_postgres::{PostgresStore, Settings};
use tokio_postgres::Client;

use crate::rig::{connect, runtime};

/// Far more than word needs, once a server listens.
const HEARD_MAX: Duration = Duration::from_millis(200);
/// A server needs a moment before it listens.
const TRIES: usize = 50;

struct Town {
    database: Database,
    store: PostgresStore,
    heard: Receiver<String>,
}

fn town(schema: &str) -> Town {
    let database = Cluster::shared().database();
    let mut settings = Settings::new(database.url().parse().unwrap(), Rules::default());
    settings.schema = schema.parse().unwrap();
    let store = PostgresStore::open(settings).unwrap();
    let (tell, heard) = channel();
    let tell = std::sync::Mutex::new(tell);
    // Nobody hears any more when the test is over.
    store.listen(Arc::new(move |queue, _| drop(tell.lock().unwrap().send(queue.as_str().to_owned()))));
    Town { database, store, heard }
}

#[test]
fn a_server_hears_of_a_job_when_the_transaction_commits() {
    for schema in ["hapax", "other_jobs"] {
        let town = town(schema);
        let runtime = runtime();
        let client: Client = connect(&runtime, &town.database.url());
        let enqueue = |job: &str| {
            let sql = format!("SELECT {schema}.enqueue('{job}')::text");
            runtime.block_on(client.batch_execute(&sql)).unwrap();
        };
        let heard = (0..TRIES).find_map(|_| {
            enqueue(r#"{"type":"a","args":[],"queue":"q7"}"#);
            town.heard.recv_timeout(HEARD_MAX).ok()
        });
        assert_eq!(heard.as_deref(), Some("q7"), "in {schema}");
        while town.heard.try_recv().is_ok() {}
        enqueue(r#"{"type":"a","args":[],"queue":"q8","scheduled_at":"+PT1H"}"#);
        enqueue(r#"{"type":"a","args":[],"queue":"q9"}"#);
        let heard =
            (0..TRIES).find_map(|_| town.heard.recv_timeout(HEARD_MAX).ok().filter(|queue| queue != "q7"));
        assert_eq!(heard.as_deref(), Some("q9"), "nobody is called for what is not available");
        let found =
            runtime.block_on(client.query_one(&format!("SELECT count(*) > 2 FROM {schema}.jobs"), &[]));
        assert!(found.unwrap().get::<_, bool>(0));
        drop(town.store);
    }
}

#[test]
fn a_schema_of_the_first_version_gets_the_functions() {
    let database = Cluster::shared().database();
    let tables = include_str!("../../src/sql/0001-tables.sql");
    let first = format!(
        "CREATE SCHEMA hapax; CREATE TABLE hapax.migrations (version integer PRIMARY KEY, name text NOT NULL, \
         applied_at timestamptz NOT NULL DEFAULT now()); {tables} \
         INSERT INTO hapax.migrations (version, name) VALUES (1, 'tables')"
    );
    database.query(&first).unwrap();
    let settings = || Settings::new(database.url().parse().unwrap(), Rules::default());
    drop(PostgresStore::open(settings()).unwrap());
    drop(PostgresStore::open(settings()).unwrap());
    let outcome = database.query(r#"SELECT hapax.enqueue('{"type":"a","args":[]}') ->> 'outcome'"#);
    assert_eq!(outcome.unwrap().trim(), "created");
    assert_eq!(database.query("SELECT max(version) FROM hapax.migrations").unwrap().trim(), "3");
}
