//! Servers whose own clocks are hours apart: the clock of the database counts.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::fleet::{DATABASE, Fleet};
use e2e::{Launch, Shift, job};
use hapax_pg_cluster::{Cluster, Options};
use serde_json::{Value, json};

/// How far the clocks of the servers are off. The first and the last are two hours apart.
const SHIFTS_SECONDS: [i64; 3] = [-3600, 0, 3600];
const WAIT: Duration = Duration::from_millis(1500);
/// Both sides round, and a request takes its time.
const TOLERANCE: Duration = Duration::from_millis(300);

#[test]
fn a_scheduled_job_is_due_by_the_clock_of_the_database() {
    let (fleet, _shifts) = apart();
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
    let (fleet, _shifts) = apart();
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
    let (fleet, _shifts) = apart();
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
fn apart() -> (Fleet, Vec<Shift>) {
    let shifts: Vec<Shift> = SHIFTS_SECONDS.into_iter().map(Shift::of).collect();
    let launches: Vec<Launch> = shifts.iter().map(|shift| shift.launch(Launch::default())).collect();
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
    (fleet, shifts)
}
