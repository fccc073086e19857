//! Requests with several keys each, in opposite orders, at the same moment: nobody waits for anybody for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

use e2e::{Answer, Client, Job, Server, job, together};
use serde_json::{Value, json};

const CLIENTS: usize = 32;
const ROUNDS: usize = 15;
const KEYS: usize = 12;

/// The keys of a round, forwards for some clients and backwards for others.
fn order(client: usize) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..KEYS).collect();
    if client % 2 == 1 {
        keys.reverse();
    }
    keys.rotate_left(client % KEYS);
    keys
}

/// Lets all clients send all keys of a round at the same moment. Returns every answer with the order of its keys.
fn race(
    server: &Server,
    make: impl Fn(&str, usize) -> Job + Sync,
    send: impl Fn(&mut Client, &[Job]) -> Answer + Sync,
) -> Vec<Vec<(usize, Answer)>> {
    let barrier = Barrier::new(CLIENTS);
    together(CLIENTS, |number| {
        let mut client = server.client();
        let round = |round: usize| {
            let key = |key: &usize| make(&format!("round-{round}-key-{key}"), number);
            let jobs: Vec<Job> = order(number).iter().map(key).collect();
            barrier.wait();
            (number, send(&mut client, &jobs))
        };
        (0..ROUNDS).map(round).collect()
    })
}

fn by_policy(strategy: &str) -> impl Fn(&str, usize) -> Job + Sync {
    move |key, _| job("race").unique(json!({"key": key, "on_conflict": strategy}))
}

/// What was told about one key of one round.
#[derive(Debug, Default)]
struct Told {
    /// How often each outcome.
    outcomes: BTreeMap<String, usize>,
    /// The jobs that were named.
    ids: BTreeSet<String>,
}

/// What was told, by round and key.
fn by_key(answers: &[Vec<(usize, Answer)>]) -> BTreeMap<(usize, usize), Told> {
    let mut found: BTreeMap<(usize, usize), Told> = BTreeMap::new();
    for client in answers {
        for (round, (number, answer)) in client.iter().enumerate() {
            for (item, key) in answer.list("/items").iter().zip(order(*number)) {
                let told = found.entry((round, key)).or_default();
                let outcome = item["outcome"].as_str().unwrap_or_else(|| panic!("{item}"));
                *told.outcomes.entry(outcome.to_owned()).or_default() += 1;
                let id = [&item["job"]["id"], &item["error"]["details"]["existing_job_id"]];
                told.ids.extend(id.into_iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
    }
    found
}

#[track_caller]
fn one_created_per_key(answers: &[Vec<(usize, Answer)>], rest: &str) {
    for ((round, key), Told { outcomes, ids }) in by_key(answers) {
        assert_eq!(ids.len(), 1, "round {round} key {key}: {outcomes:?}");
        let expected = [("created".to_owned(), 1), (rest.to_owned(), CLIENTS - 1)];
        assert_eq!(outcomes, expected.into(), "round {round} key {key}");
    }
}

#[test]
fn bulk_requests_in_opposite_orders_create_each_key_once() {
    for (strategy, rest) in [("ignore", "existing"), ("reject", "rejected")] {
        let server = Server::start();
        let answers = race(&server, by_policy(strategy), |client, jobs| client.bulk(jobs));
        one_created_per_key(&answers, rest);
        assert_eq!(server.client().count("default", "available"), (ROUNDS * KEYS) as u64, "{strategy}");
    }
}

#[test]
fn bulk_requests_with_job_keys_in_opposite_orders_create_each_name_once_and_lose_no_item() {
    let server = Server::start();
    let named = |name: &str, number: usize| job("race").payload(json!([number])).job_key(name);
    let answers = race(&server, named, |client, jobs| client.bulk(jobs));
    one_created_per_key(&answers, "updated");
    let mut client = server.client();
    for told in by_key(&answers).into_values() {
        for id in told.ids {
            let args = client.job(&id)["args"][0].clone();
            let mut items: Vec<u64> =
                args.as_array().expect("items").iter().filter_map(Value::as_u64).collect();
            items.sort_unstable();
            assert_eq!(items, (0..CLIENTS as u64).collect::<Vec<_>>());
        }
    }
}

#[test]
fn bulk_requests_that_replace_in_opposite_orders_leave_one_of_each_key() {
    let server = Server::start();
    let answers = race(&server, by_policy("replace"), |client, jobs| client.bulk(jobs));
    for ((round, key), Told { outcomes, ids }) in by_key(&answers) {
        assert_eq!(ids.len(), CLIENTS, "round {round} key {key}");
        assert_eq!(outcomes["created"], 1, "round {round} key {key}");
        assert_eq!(outcomes["replaced"], CLIENTS - 1, "round {round} key {key}");
    }
    assert_eq!(server.client().count("default", "available"), (ROUNDS * KEYS) as u64);
}

#[test]
fn batches_in_opposite_orders_name_one_job_per_key() {
    let server = Server::start();
    let answers = race(&server, by_policy("ignore"), |client, jobs| client.batch(jobs));
    let mut ids: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for client in &answers {
        for (round, (number, answer)) in client.iter().enumerate() {
            assert!(matches!(answer.status, 200 | 201), "{}", answer.body);
            let jobs = answer.list("/jobs");
            for (job, key) in jobs.iter().zip(order(*number)) {
                ids.entry((round, key)).or_default().insert(job["id"].to_string());
            }
        }
    }
    assert_eq!(ids.len(), ROUNDS * KEYS);
    assert!(ids.values().all(|ids| ids.len() == 1), "a key with two jobs");
    assert_eq!(server.client().count("default", "available"), (ROUNDS * KEYS) as u64);
}

#[test]
fn of_batches_that_may_be_rejected_exactly_one_is_stored_whole() {
    let server = Server::start();
    let answers = race(&server, by_policy("reject"), |client, jobs| client.batch(jobs));
    for round in 0..ROUNDS {
        let stored = answers.iter().filter(|client| client[round].1.status == 201).count();
        assert_eq!(stored, 1, "round {round}");
        for (_, answer) in
            answers.iter().map(|client| &client[round]).filter(|(_, answer)| answer.status != 201)
        {
            answer.is_refusal(409, "duplicate");
        }
    }
    assert_eq!(server.client().count("default", "available"), (ROUNDS * KEYS) as u64);
}
