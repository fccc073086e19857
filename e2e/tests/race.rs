//! Many clients at the same moment: one wins, the others are told so, and nobody gets an error.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

use e2e::{Answer, Client, Server, job, together};
use serde_json::json;

const RACERS: usize = 50;
const ROUNDS: usize = 200;
/// Every so many rounds each job of the round is read back.
const READ_EVERY: usize = 20;

/// Lets every racer enqueue the same job at the same moment, round after round, and judges each round.
fn race(strategy: &str, judge: impl Fn(&mut Client, usize, &[Answer])) {
    let server = Server::start();
    let barrier = Barrier::new(RACERS);
    let answers = together(RACERS, |_| {
        let mut client = server.client();
        let round = |number| {
            let policy = json!({"key": format!("round-{number}"), "on_conflict": strategy});
            let job = job("race").unique(policy);
            barrier.wait();
            client.enqueue(&job)
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    });
    let mut client = server.client();
    for round in 0..ROUNDS {
        let answers: Vec<Answer> = answers.iter().map(|racer| racer[round].clone()).collect();
        judge(&mut client, round, &answers);
    }
    assert_eq!(client.count("default", "available"), ROUNDS as u64, "one job lives per round");
}

/// The answers with this status.
fn with_status(answers: &[Answer], status: u16) -> Vec<&Answer> {
    answers.iter().filter(|answer| answer.status == status).collect()
}

#[test]
fn of_fifty_that_may_be_rejected_exactly_one_is_created() {
    race("reject", |client, round, answers| {
        let created = with_status(answers, 201);
        assert_eq!(created.len(), 1, "round {round}");
        assert_eq!(created[0]["outcome"], "created");
        let refused = with_status(answers, 409);
        assert_eq!(refused.len(), RACERS - 1, "round {round}");
        for answer in refused {
            answer.is_refusal(409, "duplicate");
            assert_eq!(answer["error"]["details"]["existing_job_id"], created[0]["job"]["id"]);
        }
        if round % READ_EVERY == 0 {
            let holder = client.job(&created[0].id());
            assert_eq!(holder["unique"]["duplicates"]["count"], RACERS - 1, "round {round}");
        }
    });
}

#[test]
fn of_fifty_that_may_be_ignored_exactly_one_is_created_and_all_get_it() {
    race("ignore", |client, round, answers| {
        let created = with_status(answers, 201);
        assert_eq!(created.len(), 1, "round {round}");
        let existing = with_status(answers, 200);
        assert_eq!(existing.len(), RACERS - 1, "round {round}");
        for answer in existing {
            assert_eq!(answer.id(), created[0].id(), "round {round}");
            assert_eq!(answer["deduplicated"], true);
            assert_eq!(answer["outcome"], "existing");
        }
        if round % READ_EVERY == 0 {
            assert_eq!(client.state(&created[0].id()), "available");
        }
    });
}

#[test]
fn of_fifty_that_replace_each_other_exactly_one_lives() {
    race("replace", |client, round, answers| {
        assert_eq!(with_status(answers, 201).len(), RACERS, "round {round}");
        let ids: BTreeSet<String> = answers.iter().map(Answer::id).collect();
        assert_eq!(ids.len(), RACERS, "round {round}");
        let mut replaced = BTreeSet::new();
        for answer in answers {
            let named = answer["replaced"].as_array().map(Vec::as_slice).unwrap_or_default();
            let outcome = if named.is_empty() { "created" } else { "replaced" };
            assert_eq!(answer["outcome"], outcome, "round {round}");
            for id in named {
                let id = id.as_str().unwrap_or_default().to_owned();
                assert!(replaced.insert(id.clone()), "round {round}: {id} was replaced twice");
            }
        }
        let survivors: Vec<&String> = ids.difference(&replaced).collect();
        assert_eq!(survivors.len(), 1, "round {round}");
        assert!(replaced.is_subset(&ids), "round {round}: somebody else's job was replaced");
        if round % READ_EVERY == 0 {
            for id in &ids {
                let expected = if id == survivors[0] { "available" } else { "cancelled" };
                assert_eq!(client.state(id), expected, "round {round}");
            }
        }
    });
}

#[test]
fn of_sixteen_fetchers_each_job_goes_to_one() {
    const JOBS: usize = 2_000;
    const FETCHERS: usize = 16;
    let server = Server::start();
    let jobs: Vec<_> = (0..JOBS).map(|_| job("work").json()).collect();
    server.client().post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is(201);
    let barrier = Barrier::new(FETCHERS);
    let deliveries = together(FETCHERS, |number| {
        let mut client = server.client();
        let mut found = Vec::new();
        barrier.wait();
        loop {
            let fetched = client.fetch("default", 1 + number % 4);
            if fetched.is_empty() {
                return found;
            }
            found.extend(fetched.into_iter().map(|delivery| (delivery.id, delivery.fence)));
        }
    });
    let deliveries = deliveries.concat();
    assert_eq!(deliveries.len(), JOBS);
    let by_id: BTreeMap<String, u64> = deliveries.into_iter().collect();
    assert_eq!(by_id.len(), JOBS, "a job was delivered twice");
    assert!(by_id.values().all(|fence| *fence == 1), "a first delivery has the first fence");
    assert_eq!(server.client().count("default", "active"), JOBS as u64);
}

#[test]
fn an_ack_and_a_cancel_at_once_have_one_winner() {
    const PAIRS: usize = 100;
    let server = Server::start();
    let mut client = server.client();
    let barrier = Barrier::new(2);
    for _ in 0..PAIRS {
        let id = client.create(&job("work"));
        let delivery = client.fetch_one("default");
        let statuses = together(2, |number| {
            let mut client = server.client();
            client.get("/ojs/v1/health").is(200);
            barrier.wait();
            if number == 0 { client.ack(&delivery).status } else { client.cancel(&id).status }
        });
        let state = client.state(&id);
        match statuses[..] {
            [200, 409] => assert_eq!(state, "completed"),
            [409, 200] => assert_eq!(state, "cancelled"),
            _ => panic!("ack and cancel were answered with {statuses:?}; the job is {state}"),
        }
    }
}

#[test]
fn mixed_strategies_on_one_key_never_leave_two_alive() {
    const CLIENTS: usize = 16;
    const EACH: usize = 60;
    let server = Server::start();
    let strategies = ["reject", "ignore", "replace", "replace_except_schedule"];
    let created = together(CLIENTS, |number| {
        let mut client = server.client();
        let mut created = Vec::new();
        for round in 0..EACH {
            let answer = client.enqueue(&job("mixed").on_conflict(strategies[(number + round) % 4]));
            match answer.status {
                201 => created.push(answer.id()),
                200 => assert_eq!(answer["deduplicated"], true),
                _ => assert_eq!(answer.is_refusal(409, "duplicate").status, 409),
            }
        }
        created
    });
    let created = created.concat();
    let mut client = server.client();
    let alive: Vec<&String> = created.iter().filter(|id| client.state(id) != "cancelled").collect();
    assert_eq!(alive.len(), 1);
    let answer = client.enqueue(&job("mixed").on_conflict("ignore"));
    assert_eq!(&answer.is(200).id(), alive[0]);
}
