//! However a test process ends, nothing of its cluster is left.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

mod traces;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use hapax_pg_cluster::{Cluster, Options};
use traces::{Place, eventually, has_segment, is_alive, segment};

/// A server has a postmaster and several processes of housekeeping, and a guard above it.
const PROCESSES_MIN: usize = 5;

/// A process of its own that keeps its cluster in `place`.
fn keeper(place: &Place) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hapax-pg-cluster"))
        .env("TMPDIR", place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn running_keeper(place: &Place) -> Child {
    let mut keeper = keeper(place);
    let mut url = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("postgres://"), "{url}");
    keeper
}

fn assert_nothing_is_left(place: &Place, processes: &[u32]) {
    assert!(eventually(|| place.is_empty()), "{:?} is left", place.entries());
    assert!(eventually(|| !processes.iter().any(|pid| is_alive(*pid))), "of {processes:?} one still runs");
    assert_eq!(place.processes(), []);
}

#[test]
fn a_killed_process_leaves_nothing() {
    let place = Place::new();
    let mut keeper = running_keeper(&place);
    let processes = place.processes();
    assert!(processes.len() > PROCESSES_MIN, "{processes:?}");
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    assert_nothing_is_left(&place, &processes);
}

#[test]
fn a_process_killed_while_its_cluster_is_made_leaves_nothing() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    assert!(eventually(|| !place.processes().is_empty()));
    let processes = place.processes();
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    assert_nothing_is_left(&place, &processes);
}

#[test]
fn a_process_that_ends_leaves_nothing() {
    let place = Place::new();
    let mut keeper = running_keeper(&place);
    let processes = place.processes();
    drop(keeper.stdin.take());
    assert!(keeper.wait().unwrap().success());
    assert_nothing_is_left(&place, &processes);
}

#[test]
fn a_dropped_cluster_is_gone_at_once() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let (pid, data_dir) = (cluster.pid().unwrap(), cluster.data_dir());
    assert!(is_alive(pid));
    drop(cluster);
    assert!(!traces::is_listed(pid), "not even as a zombie");
    assert!(!data_dir.parent().unwrap().exists());
}

#[test]
fn a_killed_cluster_leaves_no_shared_memory() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let segment = segment(&cluster.data_dir());
    assert!(has_segment(&segment));
    cluster.kill().unwrap();
    drop(cluster);
    assert!(!has_segment(&segment));
}
