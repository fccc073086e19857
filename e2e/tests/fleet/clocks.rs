//! Servers whose own clocks are hours apart: the clock of the database counts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::fleet::{DATABASE, Fleet};
use e2e::{Launch, job};
use hapax_pg_cluster::{Cluster, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How far the clocks of the servers are off. The first and the last are two hours apart.
const SHIFTS_SECONDS: [i64; 3] = [-3600, 0, 3600];
const WAIT: Duration = Duration::from_millis(1500);
/// Both sides round, and a request takes its time.
const TOLERANCE: Duration = Duration::from_millis(300);

const SHIFT: &str = include_str!("clock_shift.c");

#[test]
fn a_scheduled_job_is_due_by_the_clock_of_the_database() {
    let folder = TempDir::new().unwrap();
    let fleet = apart(folder.path());
    for number in 0..SHIFTS_SECONDS.len() {
        let queue = format!("queue-{number}");
        // Whoever takes the job in, another hands it out.
        let (mut producer, mut worker) = (fleet.client(number), fleet.client(number + 1));
        let started = clock::now();
        let id = producer.create(&job("later").on(&queue).with("scheduled_at", "+PT1.5S"));
        let is_due = || {
            let found = worker.fetch(&queue, 1);
            found.first().inspect(|delivery| assert_eq!(delivery.id, id)).is_some()
        };
        clock::until("the job is due", SOON, is_due);
        let waited = started.elapsed();
        assert!(waited + TOLERANCE > WAIT, "{waited:?} after {number} took it in");
    }
}

#[test]
fn a_lease_runs_out_by_the_clock_of_the_database() {
    let folder = TempDir::new().unwrap();
    let fleet = apart(folder.path());
    for number in 0..SHIFTS_SECONDS.len() {
        let queue = format!("queue-{number}");
        let (mut holder, mut other) = (fleet.client(number), fleet.client(number + 1));
        let id = holder.create(&job("held").on(&queue));
        let started = clock::now();
        let delivery = holder.fetch_for(&queue, 1500);
        let length = WAIT.saturating_sub(TOLERANCE).saturating_sub(started.elapsed());
        clock::throughout("the lease lasts", length, || other.state(&id) == "active");
        clock::until("the lease runs out", SOON, || other.state(&id) == "available");
        assert!(started.elapsed() + TOLERANCE > WAIT, "{:?}", started.elapsed());
        assert_eq!(other.fetch_one(&queue).fence, delivery.fence + 1);
        holder.ack(&delivery).is_refusal(409, "lease_lost");
    }
}

#[test]
fn times_in_answers_are_those_of_the_database() {
    let folder = TempDir::new().unwrap();
    let fleet = apart(folder.path());
    let mut times: Vec<Value> = Vec::new();
    for number in 0..SHIFTS_SECONDS.len() {
        times.push(
            fleet.client(number).enqueue(&job("now").args(json!([number]))).is(201)["job"]["created_at"]
                .clone(),
        );
    }
    for (earlier, later) in times.iter().zip(&times[1..]) {
        let ms = clock::ms_between(earlier, later);
        assert!(ms < 10_000, "{earlier} and then {later}");
    }
}

/// Servers of one database with clocks of their own, which they show in the `Date` of an answer.
fn apart(folder: &Path) -> Fleet {
    let library = build(folder).unwrap_or_else(|error| panic!("no C compiler: {error}"));
    let preload = format!("LD_PRELOAD={}", library.display());
    let launch = |seconds: &i64| {
        let shift = format!("CLOCK_SHIFT_SECONDS={seconds}");
        Launch::default().under(&["env", &preload, &shift])
    };
    let launches: Vec<Launch> = SHIFTS_SECONDS.iter().map(launch).collect();
    let cluster = Cluster::start(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let fleet = Fleet::on(cluster, &launches, |cluster| cluster.url(DATABASE));
    let hour = |number| {
        let answer = fleet.client(number).get("/ojs/v1/health");
        let date = answer.header("date").unwrap_or_default();
        let hour = date.split(' ').nth(4).and_then(|time| time.split(':').next()?.parse::<u32>().ok());
        hour.unwrap_or_else(|| panic!("no time in {date}"))
    };
    let (first, last) = (hour(0), hour(2));
    assert!([2, 3].contains(&((last + 24 - first) % 24)), "the clocks show {first} and {last} o'clock");
    fleet
}

/// The library that sets a clock, built by the compiler that the server's own build needs.
fn build(folder: &Path) -> io::Result<PathBuf> {
    let (source, library) = (folder.join("clock_shift.c"), folder.join("clock_shift.so"));
    fs::write(&source, SHIFT)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source);
    let output = compiler.output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(library)
}
