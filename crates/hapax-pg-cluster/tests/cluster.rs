//! What tests rely on when they take a database.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

use std::collections::HashSet;
use std::thread;

use hapax_pg_cluster::{Cluster, Error, Options};

const THREADS: usize = 16;

fn names_of_databases_made_at_once(cluster: &Cluster) -> HashSet<String> {
    let name = || cluster.database().query("SELECT current_database()").unwrap();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(name)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn prepare(cluster: &Cluster, url: &str) {
    let name = url.rsplit('/').next().unwrap();
    assert_eq!(url, cluster.url(name));
    cluster.query(name, "CREATE TABLE from_the_template ()").unwrap();
}

#[test]
fn a_database_answers() {
    let database = Cluster::shared().database();
    assert_eq!(database.query("SELECT 1 + 1, current_database()").unwrap(), format!("2|{}", database.name()));
    assert_eq!(database.query("SHOW server_encoding").unwrap(), "UTF8");
}

#[test]
fn two_databases_are_apart() {
    let (one, other) = (Cluster::shared().database(), Cluster::shared().database());
    one.query("CREATE TABLE only_here ()").unwrap();
    assert_ne!(one.url(), other.url());
    assert!(matches!(other.query("SELECT FROM only_here"), Err(Error::Refused { .. })));
}

#[test]
fn a_dropped_database_is_gone() {
    let database = Cluster::shared().database();
    let name = database.name().to_owned();
    drop(database);
    let count = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    assert_eq!(Cluster::shared().database().query(&count).unwrap(), "0");
}

#[test]
fn many_threads_get_a_database_each() {
    assert_eq!(names_of_databases_made_at_once(Cluster::shared()).len(), THREADS);
}

#[test]
fn databases_are_copies_of_the_template_once_there_is_one() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let before = cluster.database();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| cluster.template(|url| prepare(&cluster, url)));
        }
    });
    assert_eq!(cluster.database().query("SELECT count(*) FROM from_the_template").unwrap(), "0");
    assert!(before.query("SELECT FROM from_the_template").is_err());
    assert_eq!(names_of_databases_made_at_once(&cluster).len(), THREADS);
}

#[test]
fn a_cluster_of_ones_own_takes_settings() {
    let options = Options { settings: vec!["max_connections = 17".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&options).unwrap();
    assert_eq!(cluster.query("postgres", "SHOW max_connections").unwrap(), "17");
    assert_eq!(cluster.query("postgres", "SHOW listen_addresses").unwrap(), "");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let options = Options { settings: vec!["no_such_setting = 1".to_owned()], ..Options::default() };
    let error = Cluster::start(&options).unwrap_err().to_string();
    assert!(error.contains("did not start") && error.contains("no_such_setting"), "{error}");
}

#[test]
fn a_session_holds_its_locks_until_it_is_dropped() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let is_free = || cluster.query("postgres", "SELECT pg_try_advisory_xact_lock(7)").unwrap() == "t";
    let mut session = cluster.session("postgres").unwrap();
    session.query("BEGIN").unwrap();
    assert_eq!(session.query("SELECT 1, pg_advisory_xact_lock(7) IS NULL").unwrap(), "1|f");
    assert!(!is_free());
    drop(session);
    assert!(is_free());
}

#[test]
fn a_session_ends_with_the_first_error_and_says_which() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let mut session = cluster.session("postgres").unwrap();
    let error = session.query("SELECT FROM nowhere").unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("does not exist"), "{error}");
    assert!(session.query("SELECT 1").is_err());
}
