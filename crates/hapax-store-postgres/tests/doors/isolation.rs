//! Uniqueness at every isolation level of the caller, and against servers.

use std::sync::{Arc, Barrier};
use std::thread;

use hapax_broker::Clock;
use hapax_core::{Rules, Timestamp};
use hapax_pg_cluster::{Cluster, Database, Options};
use hapax_store::Store;
use hapax_store_postgres::{DatabaseClock, PostgresStore, Settings};
use tokio::runtime::Runtime;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::post::Post;
use crate::rig::{connect, runtime, serve};

struct Table {
    runtime: Runtime,
    store: Arc<dyn Store>,
    clock: DatabaseClock,
    database: Database,
}

#[derive(Debug)]
struct Theirs(DatabaseClock);

impl Clock for Theirs {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Table {
    fn new() -> Table {
        Table::of(Cluster::shared())
    }

    fn of(cluster: &Cluster) -> Table {
        let database = cluster.database();
        let settings = Settings::new(database.url().parse().unwrap(), Rules::default());
        let store = PostgresStore::open(settings).unwrap();
        let clock = store.clock();
        Table { runtime: runtime(), store: Arc::new(store), clock, database }
    }

    fn session(&self) -> Session<'_> {
        Session { client: connect(&self.runtime, &self.database.url()), runtime: &self.runtime }
    }
}

struct Session<'r> {
    client: Client,
    runtime: &'r Runtime,
}

impl Session<'_> {
    fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    /// Begins, and has a snapshot from now on if the level keeps one.
    fn begin(&self, level: &str) {
        self.run(&format!("BEGIN ISOLATION LEVEL {level}; SELECT count(*) FROM hapax.jobs"));
    }

    fn ask(&self, sql: &str) -> Result<String, SqlState> {
        let row = self.runtime.block_on(self.client.query_one(sql, &[]));
        row.map(|row| row.get(0)).map_err(|error| error.code().unwrap().clone())
    }

    /// The outcome of an enqueue, or the error.
    fn enqueue(&self, job: &str) -> Result<String, SqlState> {
        self.ask(&format!("SELECT hapax.enqueue('{job}') ->> 'outcome'"))
    }
}

const UNIQUE: &str = r#"{"type":"a","args":[],"unique":{"on_conflict":"ignore"}}"#;
const PLAIN: &str = r#"{"type":"a","args":[]}"#;
const STRICT: [&str; 2] = ["REPEATABLE READ", "SERIALIZABLE"];

#[test]
fn a_snapshot_that_may_miss_a_holder_is_refused() {
    for level in STRICT {
        let table = Table::new();
        let (one, other) = (table.session(), table.session());
        one.begin(level);
        assert_eq!(other.enqueue(UNIQUE).unwrap(), "created");
        assert_eq!(one.enqueue(UNIQUE), Err(SqlState::T_R_SERIALIZATION_FAILURE), "{level}");
        one.run("ROLLBACK");
        assert_eq!(enqueue_at(&one, level, UNIQUE), "existing");
    }
}

#[test]
fn a_transaction_that_was_running_when_the_snapshot_was_taken_is_not_missed() {
    for level in STRICT {
        let table = Table::new();
        let (one, other) = (table.session(), table.session());
        other.begin("READ COMMITTED");
        assert_eq!(other.enqueue(UNIQUE).unwrap(), "created");
        one.begin(level);
        other.run("COMMIT");
        assert_eq!(one.enqueue(UNIQUE), Err(SqlState::T_R_SERIALIZATION_FAILURE), "{level}");
        one.run("ROLLBACK");
    }
}

#[test]
fn a_snapshot_that_misses_nothing_will_do() {
    // Whoever commits in any database of the cluster might be one that is missing.
    let settings = vec!["autovacuum = off".to_owned()];
    let cluster = Cluster::start(&Options { settings, ..Options::default() }).unwrap();
    for level in STRICT {
        let table = Table::of(&cluster);
        let (one, other) = (table.session(), table.session());
        one.begin(level);
        // What was undone is nobody's holder.
        other.run("BEGIN");
        assert_eq!(other.enqueue(UNIQUE).unwrap(), "created");
        other.run("ROLLBACK");
        assert_eq!(one.enqueue(UNIQUE).unwrap(), "created", "{level}");
        assert_eq!(one.enqueue(UNIQUE).unwrap(), "existing", "{level}");
        one.run("COMMIT");
        assert_eq!(other.enqueue(UNIQUE).unwrap(), "existing", "{level}");
    }
}

#[test]
fn a_job_without_a_key_needs_no_fresh_snapshot() {
    for level in STRICT {
        let table = Table::new();
        let (one, other) = (table.session(), table.session());
        one.begin(level);
        assert_eq!(other.enqueue(PLAIN).unwrap(), "created");
        assert_eq!(one.enqueue(PLAIN).unwrap(), "created", "{level}");
        one.run("COMMIT");
    }
}

#[test]
fn a_successor_that_the_snapshot_does_not_have_is_not_left_behind() {
    for level in STRICT {
        let table = Table::new();
        let (one, other) = (table.session(), table.session());
        let job = r#"{"type":"a","args":[],"unique":{"while_active":"queue_latest","on_conflict":"ignore"}}"#;
        assert_eq!(one.enqueue(job).unwrap(), "created");
        let mut post = Post::to(serve(&table.runtime, &table.store, Arc::new(Theirs(table.clock.clone()))));
        let (_, fetched) = post.send("POST", "/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#);
        let text = |pointer: &str| fetched.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let ended =
            format!("SELECT hapax.complete('{}', '{}') ->> 'state'", text("/job/id"), text("/job/lease"));
        one.begin(level);
        assert_eq!(other.enqueue(job).unwrap(), "created");
        assert_eq!(one.ask(&ended), Err(SqlState::T_R_SERIALIZATION_FAILURE), "{level}");
        one.run("ROLLBACK");
        assert_eq!(one.ask(&ended).unwrap(), "completed");
        let waiting = one.ask("SELECT string_agg(state::text, ',' ORDER BY seq) FROM hapax.jobs");
        assert_eq!(waiting.unwrap(), "completed,available");
    }
}

/// A server that waits for the lock of a running job must see the successor that was stored meanwhile.
#[test]
fn a_successor_that_is_stored_while_a_server_waits_is_not_left_behind() {
    let table = Table::new();
    let (one, other) = (table.session(), table.session());
    let job = r#"{"type":"a","args":[],"unique":{"while_active":"queue_latest","on_conflict":"ignore"}}"#;
    assert_eq!(one.enqueue(job).unwrap(), "created");
    let address = serve(&table.runtime, &table.store, Arc::new(Theirs(table.clock.clone())));
    let (_, fetched) = Post::to(address).send("POST", "/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#);
    one.begin("READ COMMITTED");
    assert_eq!(one.enqueue(job).unwrap(), "created");
    thread::scope(|scope| {
        let ack = scope.spawn(|| {
            let body = format!(r#"{{"job_id":{}}}"#, fetched["job"]["id"]);
            Post::to(address).send("POST", "/ojs/v1/workers/ack", &body).0
        });
        // The one who waits shows in the list of locks.
        let waiting = "SELECT count(*)::text FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
                       WHERE NOT l.granted AND a.datname = current_database()";
        while other.ask(waiting).unwrap() == "0" {
            assert!(!ack.is_finished(), "the server did not wait");
        }
        one.run("COMMIT");
        assert_eq!(ack.join().unwrap(), 200);
    });
    let waiting = one.ask("SELECT string_agg(state::text, ',' ORDER BY seq) FROM hapax.jobs");
    assert_eq!(waiting.unwrap(), "completed,available");
}

/// What is undone with the caller's transaction never was.
#[test]
fn a_job_is_there_if_and_only_if_the_transaction_is() {
    let table = Table::new();
    let one = table.session();
    one.run("CREATE TABLE orders (id int); BEGIN; INSERT INTO orders VALUES (1)");
    assert_eq!(one.enqueue(UNIQUE).unwrap(), "created");
    one.run("ROLLBACK");
    assert_eq!(one.ask("SELECT count(*)::text FROM hapax.jobs").unwrap(), "0");
    assert_eq!(one.ask("SELECT count(*)::text FROM hapax.tallies").unwrap(), "0");
    assert_eq!(one.enqueue(UNIQUE).unwrap(), "created");
}

const KEYS: usize = 12;

/// Everybody wants each key once, through a level or through a server; whoever is asked to try again does.
#[test]
fn one_of_many_wins_whatever_the_level_and_the_door() {
    let table = Table::new();
    let levels = ["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
    let address = serve(&table.runtime, &table.store, Arc::new(Theirs(table.clock.clone())));
    let start = Barrier::new(levels.len() + 2);
    let job =
        |key: usize| format!(r#"{{"type":"a","args":[],"unique":{{"key":"{key}","on_conflict":"ignore"}}}}"#);
    let (table, start) = (&table, &start);
    let created: usize = thread::scope(|scope| {
        let by_sql = levels.map(|level| {
            scope.spawn(move || {
                let session = table.session();
                start.wait();
                (0..KEYS).filter(|key| enqueue_at(&session, level, &job(*key)) == "created").count()
            })
        });
        let by_http = [(); 2].map(|()| {
            scope.spawn(move || {
                let mut post = Post::to(address);
                start.wait();
                let is_created =
                    |key: &usize| post.send("POST", "/ojs/v1/jobs", &job(*key)).1["outcome"] == "created";
                (0..KEYS).filter(is_created).count()
            })
        });
        by_sql.into_iter().chain(by_http).map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(created, KEYS);
    let count = table.session().ask("SELECT count(*)::text FROM hapax.jobs").unwrap();
    assert_eq!(count, KEYS.to_string());
}

fn enqueue_at(session: &Session<'_>, level: &str, job: &str) -> String {
    loop {
        session.begin(level);
        match session.enqueue(job) {
            Ok(outcome) => {
                session.run("COMMIT");
                return outcome;
            }
            Err(code) => {
                assert_eq!(code, SqlState::T_R_SERIALIZATION_FAILURE, "at {level}");
                session.run("ROLLBACK");
            }
        }
    }
}
