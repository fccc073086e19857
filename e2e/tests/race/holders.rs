//! Jobs that meet a running holder at the same moment.

use e2e::{Delivery, Job, Server, job};
use serde_json::json;

use crate::{READ_EVERY, ROUNDS, one_created_and_the_rest_are, race_on, with_status};

fn latest(round: usize) -> Job {
    let policy =
        json!({"key": format!("round-{round}"), "while_active": "queue_latest", "on_conflict": "ignore"});
    job("race").unique(policy)
}

fn named(round: usize) -> Job {
    job("race").job_key(&format!("round-{round}"))
}

/// A server on which the job of each round runs.
fn with_running(job: impl Fn(usize) -> Job) -> (Server, Vec<Delivery>) {
    let server = Server::start();
    let mut client = server.client();
    let jobs: Vec<Job> = (0..ROUNDS).map(|round| job(round).on("before")).collect();
    client.batch(&jobs).is(201);
    let mut running = Vec::new();
    while running.len() < ROUNDS {
        running.extend(client.fetch("before", 50));
    }
    (server, running)
}

#[test]
fn of_fifty_behind_a_running_job_exactly_one_waits() {
    let (server, running) = with_running(latest);
    let job = |round, racer| latest(round).args(json!([racer]));
    race_on(&server, "pending", job, |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        let waits_for = &with_status(answers, 201)[0]["job"]["unique"]["waits_for"];
        assert_eq!(*waits_for, running[round].id.as_str(), "round {round}");
        if round % READ_EVERY == 0 {
            client.ack(&running[round]).is(200);
            assert_eq!(client.state(&id), "available", "round {round}");
        }
    });
}

#[test]
fn of_fifty_with_the_name_of_a_running_job_exactly_one_is_created() {
    let (server, running) = with_running(named);
    let job = |round, racer: usize| named(round).args(json!([[racer]]));
    race_on(&server, "available", job, |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        assert_ne!(id, running[round].id, "round {round}");
        if round % READ_EVERY == 0 {
            assert_eq!(client.job(&running[round].id)["unique"]["released"]["by"], "newer_job");
            client.ack(&running[round]).is(200);
            assert_eq!(client.state(&id), "available", "round {round}");
        }
    });
}
