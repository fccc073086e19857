//! What crash tests rely on: a server that ends at any moment, and starts again.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

use hapax_pg_cluster::{Cluster, Error, Options};

fn cluster_with_a_row() -> Cluster {
    let cluster = Cluster::start(&Options { durable: true, ..Options::default() }).unwrap();
    cluster.query("postgres", "CREATE TABLE kept AS SELECT 'here' AS row").unwrap();
    cluster
}

fn row(cluster: &Cluster) -> Result<String, Error> {
    cluster.query("postgres", "SELECT row FROM kept")
}

#[test]
fn a_durable_cluster_keeps_a_row_over_an_immediate_stop() {
    let cluster = cluster_with_a_row();
    let before = cluster.pid();
    cluster.stop_immediately().unwrap();
    assert_eq!(cluster.pid(), None);
    assert!(row(&cluster).is_err());
    cluster.restart().unwrap();
    assert_eq!(row(&cluster).unwrap(), "here");
    assert!(cluster.pid().is_some() && cluster.pid() != before);
}

#[test]
fn a_durable_cluster_keeps_a_row_over_a_kill() {
    let cluster = cluster_with_a_row();
    cluster.kill().unwrap();
    assert_eq!(cluster.pid(), None);
    assert!(row(&cluster).is_err());
    cluster.restart().unwrap();
    assert_eq!(row(&cluster).unwrap(), "here");
    let log = std::fs::read_to_string(cluster.log()).unwrap();
    assert!(log.contains("database system was not properly shut down"), "{log}");
}

#[test]
fn a_running_cluster_can_be_restarted() {
    let cluster = cluster_with_a_row();
    cluster.restart().unwrap();
    assert_eq!(row(&cluster).unwrap(), "here");
}

#[test]
fn a_stopped_cluster_can_be_stopped_and_killed() {
    let cluster = cluster_with_a_row();
    cluster.stop_immediately().unwrap();
    cluster.stop_immediately().unwrap();
    cluster.kill().unwrap();
    cluster.restart().unwrap();
    assert_eq!(row(&cluster).unwrap(), "here");
}

#[test]
fn a_standby_takes_the_place_of_its_primary_and_the_other_way_round() {
    let settings = vec!["synchronous_standby_names = 'walreceiver'".to_owned()];
    let one = Cluster::start(&Options { durable: true, settings, ..Options::default() }).unwrap();
    let other = one.standby().unwrap();
    one.query("postgres", "CREATE TABLE kept AS SELECT 'here' AS row").unwrap();
    one.kill().unwrap();
    assert!(other.query("postgres", "UPDATE kept SET row = 'there'").is_err());
    other.promote().unwrap();
    assert_eq!(row(&other).unwrap(), "here");
    one.follow(&other).unwrap();
    other.query("postgres", "UPDATE kept SET row = 'there'").unwrap();
    other.stop_immediately().unwrap();
    one.promote().unwrap();
    assert_eq!(row(&one).unwrap(), "there");
}
