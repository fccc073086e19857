//! Many clients at the same moment: one wins, the others are told so, and nobody gets an error.

mod holders;
mod job_keys;
mod several_keys;
mod strategies;
mod workers;

use std::sync::Barrier;

use e2e::{Answer, Client, Job, Server, together};

const RACERS: usize = 50;
const ROUNDS: usize = 200;
/// Every so many rounds each job of the round is read back.
const READ_EVERY: usize = 20;

/// Lets every racer send the job of the round at the same moment, round after round, and judges each round. One
/// job per round stands in the state then.
fn race(
    state: &str,
    job: impl Fn(usize, usize) -> Job + Sync,
    judge: impl Fn(&mut Client, usize, &[Answer]),
) {
    race_on(&Server::start(), state, job, judge);
}

/// The same on a server that the test prepared.
fn race_on(
    server: &Server,
    state: &str,
    job: impl Fn(usize, usize) -> Job + Sync,
    judge: impl Fn(&mut Client, usize, &[Answer]),
) {
    let barrier = Barrier::new(RACERS);
    let answers = together(RACERS, |racer| {
        let mut client = server.client();
        let round = |number| {
            let job = job(number, racer);
            barrier.wait();
            client.enqueue(&job)
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    });
    let mut client = server.client();
    assert_eq!(client.count("default", state), ROUNDS as u64, "one job lives per round");
    for round in 0..ROUNDS {
        let answers: Vec<Answer> = answers.iter().map(|racer| racer[round].clone()).collect();
        judge(&mut client, round, &answers);
    }
}

/// The answers with this status.
fn with_status(answers: &[Answer], status: u16) -> Vec<&Answer> {
    answers.iter().filter(|answer| answer.status == status).collect()
}

/// Panics unless one racer created a job and all others were answered with it in this way.
#[track_caller]
fn one_created_and_the_rest_are(answers: &[Answer], outcome: &str, round: usize) -> String {
    let created = with_status(answers, 201);
    assert_eq!(created.len(), 1, "round {round}");
    assert_eq!(created[0]["outcome"], "created", "round {round}");
    let others = with_status(answers, 200);
    assert_eq!(others.len(), RACERS - 1, "round {round}");
    for answer in others {
        assert_eq!((&answer["outcome"], answer.id()), (&outcome.into(), created[0].id()), "round {round}");
        assert_eq!(answer["deduplicated"], true, "round {round}");
    }
    created[0].id()
}
