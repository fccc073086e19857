//! Opening a store: migrations, schemas, roles, and what is said when it cannot be done.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
mod draft;

use std::thread;
use std::time::Duration;

use hapax_core::{Rules, State, Timestamp};
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::Store as _;
use hapax_store::suite::wait;
use hapax_store_postgres::{OpenError, PostgresStore, SchemaName, Settings, migrate, plan};

fn settings(url: &str) -> Settings {
    Settings::new(url.parse().unwrap(), Rules::default())
}

fn open(url: &str) -> PostgresStore {
    PostgresStore::open(settings(url)).unwrap()
}

fn in_schema(database: &Database, name: &str) -> PostgresStore {
    PostgresStore::open(Settings { schema: name.parse().unwrap(), ..settings(&database.url()) }).unwrap()
}

fn enqueue(store: &PostgresStore, n: u8) {
    let now = store.clock().now();
    let answers = wait(store.commit(vec![draft::enqueue(now, draft::incoming(now, n, None))])).unwrap();
    assert!(answers[0].is_ok());
}

fn waiting(store: &PostgresStore) -> u64 {
    wait(store.totals()).unwrap().counts.of(State::Available)
}

#[test]
fn many_servers_that_start_at_once_migrate_once() {
    let database = Cluster::shared().database();
    let url = database.url();
    thread::scope(|scope| {
        for n in 0..8 {
            let url = &url;
            scope.spawn(move || enqueue(&open(url), n));
        }
    });
    assert_eq!(waiting(&open(&url)), 8);
    let count = database.query("SELECT count(*), count(DISTINCT version) FROM hapax.migrations").unwrap();
    let (all, distinct) = count.trim().split_once('|').unwrap();
    assert_eq!(all, distinct);
}

#[test]
fn a_plan_names_the_steps_and_changes_nothing() {
    let database = Cluster::shared().database();
    let (url, schema) = (database.url().parse().unwrap(), SchemaName::default());
    let steps = plan(&url, &schema).unwrap();
    assert_eq!((steps[0].version, steps[0].name), (1, "tables"));
    assert!(steps[0].sql.starts_with("CREATE SCHEMA IF NOT EXISTS hapax;"));
    assert_eq!(plan(&url, &schema).unwrap(), steps);
    assert_eq!(migrate(&url, &schema).unwrap(), steps);
    assert!(plan(&url, &schema).unwrap().is_empty() && migrate(&url, &schema).unwrap().is_empty());
}

#[test]
fn a_newer_schema_is_refused_by_its_version() {
    let database = Cluster::shared().database();
    drop(open(&database.url()));
    database.query("INSERT INTO hapax.migrations (version, name) VALUES (999, 'future')").unwrap();
    let error = PostgresStore::open(settings(&database.url())).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 999, .. }), "{error:?}");
    assert!(
        error.to_string().starts_with("the schema hapax has version 999; this program knows versions up to")
    );
}

#[test]
fn two_schemas_of_one_database_are_apart() {
    let database = Cluster::shared().database();
    let (one, two) = (in_schema(&database, "hapax_one"), in_schema(&database, "two"));
    enqueue(&one, 1);
    assert_eq!((waiting(&one), waiting(&two)), (1, 0));
}

#[test]
fn the_isolation_that_a_database_defaults_to_does_not_matter() {
    let database = Cluster::shared().database();
    enqueue(&open(&database.url()), 0);
    for (n, level) in [(1, "serializable"), (2, "repeatable read")] {
        let name = database.name();
        let alter = format!("ALTER DATABASE {name} SET default_transaction_isolation = '{level}'");
        database.query(&alter).unwrap();
        let store = open(&database.url());
        enqueue(&store, n);
        assert_eq!(waiting(&store), u64::from(n) + 1, "{level}");
    }
}

#[test]
fn a_role_that_may_not_create_anything_can_serve_what_is_up_to_date() {
    let database = Cluster::shared().database();
    let url = database.url();
    migrate(&url.parse().unwrap(), &SchemaName::default()).unwrap();
    let role = format!("server_{}", database.name());
    for sql in [
        format!("CREATE ROLE {role} LOGIN"),
        format!("GRANT USAGE ON SCHEMA hapax TO {role}"),
        format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA hapax TO {role}"),
        format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA hapax TO {role}"),
    ] {
        database.query(&sql).unwrap();
    }
    let store = open(&url.replacen("postgres@", &format!("{role}@"), 1));
    enqueue(&store, 1);
    assert_eq!(waiting(&store), 1);
    let now = store.clock().now();
    assert!(wait(store.advance(now, 10, hapax_core::Chance(0))).unwrap().changes.is_empty());
    database.query("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA hapax FROM PUBLIC").unwrap();
    enqueue(&store, 2);
    assert_eq!(waiting(&store), 2);
}

#[test]
fn a_warning_that_comes_with_every_connection_makes_no_commit_doubtful() {
    let database = Cluster::shared().database();
    // Before PostgreSQL 15 there is no such column, and no such warning.
    let outdated = "DO $$ BEGIN UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database(); \
         EXCEPTION WHEN undefined_column THEN NULL; END $$";
    database.query(outdated).unwrap();
    let store = open(&database.url());
    enqueue(&store, 1);
    assert_eq!(waiting(&store), 1);
}

#[test]
fn a_database_that_is_not_there_is_an_error_without_the_password() {
    let url = "postgres://me:hunter2@%2Fnowhere/jobs";
    let error = PostgresStore::open(settings(url)).unwrap_err();
    assert!(matches!(error, OpenError::Database(_)), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("hunter2"));
}

#[test]
fn the_clock_is_that_of_the_database() {
    let database = Cluster::shared().database();
    let store = open(&database.url());
    let millis =
        database.query("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint").unwrap();
    let theirs = Timestamp::from_millis(millis.trim().parse().unwrap());
    let ours = store.clock().now();
    // Heard with the error of half a round trip, so it may be behind as well as ahead.
    let apart = Duration::from_millis(ours.millis().abs_diff(theirs.millis()));
    assert!(apart < Duration::from_secs(5), "{ours} and {theirs}");
}

#[test]
fn a_store_that_was_closed_answers_no_more() {
    let database = Cluster::shared().database();
    let store = open(&database.url());
    wait(store.close()).unwrap();
    assert!(wait(store.totals()).is_err() && wait(store.close()).is_err());
}
