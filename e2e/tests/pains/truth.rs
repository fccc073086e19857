//! Classes 3, 4 and 8: what is answered is true, for each of many jobs, and whoever was turned away can ask why.

use std::collections::BTreeSet;

use e2e::{Answer, Client, Job, Random, Server, job};
use serde_json::{Value, json};

/// A job for one of a few keys, by one of all strategies.
fn any(random: &mut Random) -> Job {
    let key = format!("key-{}", random.below(3));
    let by = |mut policy: Value| {
        policy["key"] = json!(key);
        job("work").args(json!([[1]])).unique(policy)
    };
    match random.below(9) {
        0 => by(json!({"on_conflict": "reject"})),
        1 => by(json!({"on_conflict": "ignore"})),
        2 => by(json!({"on_conflict": "replace"})),
        3 => by(json!({"on_conflict": "replace_except_schedule"})).with("scheduled_at", "+PT0.02S"),
        4 => by(json!({"replace": ["args"]})),
        5 => by(json!({"debounce": {"wait": "PT0.01S"}})),
        6 => by(json!({"while_active": "queue_latest", "on_conflict": "ignore"})),
        7 => job("work").args(json!([[1]])).keyed(&key, "replace"),
        _ => job("work").args(json!([[1]])).keyed(&key, "unsafe_dedupe"),
    }
}

/// Every job that an answer or an item of it names.
fn named(answer: &Value) -> Vec<String> {
    let single = [&answer["job"]["id"], &answer["error"]["details"]["existing_job_id"]];
    let replaced = answer["replaced"].as_array().map(Vec::as_slice).unwrap_or_default();
    let waits_for = &answer["job"]["unique"]["waits_for"];
    let all = single.into_iter().chain(replaced).chain([waits_for]);
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[track_caller]
fn all_can_be_read(client: &mut Client, answer: &Answer) {
    let items = answer["items"].as_array().cloned().unwrap_or_else(|| vec![answer.json.clone()]);
    for item in items {
        let ids = named(&item);
        assert!(!ids.is_empty(), "an answer that names nothing: {item}");
        for id in ids {
            assert_eq!(client.job(&id)["id"], id.as_str());
        }
    }
}

#[test]
fn class_03_every_job_that_an_answer_names_exists() {
    let mut random = Random::seeded();
    let server = Server::start();
    let mut client = server.client();
    let mut outcomes = BTreeSet::new();
    for _ in 0..600 {
        let answer = match random.below(5) {
            0 => {
                let several: Vec<Job> = (0..4).map(|_| any(&mut random)).collect();
                client.bulk(&several)
            }
            _ => client.enqueue(&any(&mut random)),
        };
        all_can_be_read(&mut client, &answer);
        outcomes.insert(answer["outcome"].as_str().unwrap_or_default().to_owned());
        if random.below(4) == 0
            && let Some(delivery) = client.fetch("default", 1).pop()
            && random.below(2) == 0
        {
            client.ack(&delivery).is(200);
        }
    }
    for outcome in ["created", "existing", "replaced", "updated"] {
        assert!(outcomes.contains(outcome), "nothing was ever {outcome}");
    }
}

#[test]
fn class_03_a_replayed_answer_names_jobs_that_exist() {
    let server = Server::start();
    let mut client = server.client();
    for strategy in ["ignore", "replace"] {
        let alone = job(&format!("alone.{strategy}")).on_conflict(strategy);
        client.create(&alone);
        for _ in 0..2 {
            let answer = client.enqueue_once(&format!("request-{strategy}"), &alone);
            all_can_be_read(&mut client, &answer);
        }
    }
}

#[test]
fn class_04_many_jobs_in_one_request_are_each_as_unique_as_one() {
    let server = Server::start();
    let mut client = server.client();
    let alone = |number: usize| {
        let policy = json!({"keys": ["args"], "on_conflict": "reject"});
        job("import").args(json!([number % 50])).unique(policy)
    };
    let jobs: Vec<Job> = (0..200).map(alone).collect();
    let answer = client.bulk(&jobs);
    assert_eq!(answer.is(207)["succeeded"], 50, "neither refused as a whole nor let through");
    for (number, item) in answer.list("/items").iter().enumerate() {
        let expected = if number < 50 { "created" } else { "rejected" };
        assert_eq!(item["outcome"], expected, "item {number}");
        let first = &answer["items"][number % 50]["job"]["id"];
        let told =
            if number < 50 { &item["job"]["id"] } else { &item["error"]["details"]["existing_job_id"] };
        assert_eq!(told, first, "item {number}");
    }
    assert_eq!(client.count("default", "available"), 50);
}

#[test]
fn class_08_whoever_was_turned_away_can_learn_by_whom_since_when_and_until_when() {
    let server = Server::start();
    let mut client = server.client();
    let report = job("report").unique(json!({"period": "PT1H", "on_conflict": "reject"}));
    let holder = client.create(&report);
    let refused = client.enqueue(&report);
    let key = refused.is_refusal(409, "duplicate").text("/error/details/uniqueness_key").to_owned();
    let by_key = client.key(&key);
    assert_eq!(by_key.is(200)["holders"][0]["job_id"], holder.as_str());
    assert!(by_key["holders"][0]["created_at"].is_string());
    assert_eq!(by_key["holders"][0]["duplicates"]["count"], 1);
    let told = client.explain(&report);
    assert_eq!((&told.is(200)["key"], &told["outcome"]), (&json!(key), &json!("rejected")));
    assert!(told["free"]["at"].is_string(), "{}", told.body);
    let request_id = refused.header("x-request-id").expect("a request id");
    let ledger = &client.job(&holder)["unique"]["duplicates"]["recent"][0];
    assert_eq!(ledger["request_id"], request_id, "the one that was turned away stands in the ledger");
}
