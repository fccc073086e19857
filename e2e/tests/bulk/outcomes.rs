//! What becomes of each item: the same as of a single enqueue.

use e2e::{Client, FAR_FUTURE, Job, Server, job};
use serde_json::{Value, json};

use crate::{column, is_sound};

/// Every strategy with the outcome that it has beside a waiting holder.
fn strategies() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("reject", json!({"on_conflict": "reject"}), "rejected"),
        ("ignore", json!({"on_conflict": "ignore"}), "existing"),
        ("replace", json!({"on_conflict": "replace"}), "replaced"),
        ("replace_except_schedule", json!({"on_conflict": "replace_except_schedule"}), "replaced"),
        ("update", json!({"replace": ["args"]}), "updated"),
        ("debounce", json!({"debounce": {"wait": "PT1H"}}), "updated"),
        ("queue_latest", json!({"while_active": "queue_latest", "on_conflict": "ignore"}), "existing"),
    ]
}

fn of(kind: &str, policy: &Value, number: u32) -> Job {
    job(kind).args(json!([{"n": number}])).unique(policy.clone())
}

#[track_caller]
fn check(client: &mut Client, item: &Value, holder: &str, outcome: &str) {
    assert_eq!(item["outcome"], outcome, "{item}");
    match outcome {
        "rejected" => {
            assert_eq!(item["error"]["code"], "duplicate", "{item}");
            assert_eq!(item["error"]["details"]["existing_job_id"], holder, "{item}");
            assert!(item["error"]["details"]["uniqueness_key"].is_string(), "{item}");
        }
        "existing" => assert_eq!(item["job"]["id"], holder, "{item}"),
        "replaced" => {
            assert_eq!(item["replaced"], json!([holder]), "{item}");
            assert_eq!(client.state(holder), "cancelled");
        }
        "updated" => {
            assert_eq!(item["job"]["id"], holder, "{item}");
            let updated = item["updated"].as_array();
            assert!(updated.is_some_and(|fields| fields.contains(&json!("args"))), "{item}");
        }
        _ => panic!("{item}"),
    }
}

#[test]
fn each_strategy_meets_a_stored_holder_as_a_single_enqueue_does() {
    let server = Server::start();
    let mut client = server.client();
    let mut holders = Vec::new();
    for (name, policy, _) in strategies() {
        holders.push(client.create(&of(&format!("work.{name}"), &policy, 1)));
    }
    let jobs: Vec<Job> =
        strategies().iter().map(|(name, policy, _)| of(&format!("work.{name}"), policy, 2)).collect();
    let answer = client.bulk(&jobs);
    is_sound(&mut client, &answer, 207);
    assert_eq!(answer["succeeded"], 6);
    for ((item, holder), (_, _, outcome)) in answer.list("/items").iter().zip(&holders).zip(strategies()) {
        check(&mut client, item, holder, outcome);
    }
}

#[test]
fn each_strategy_meets_an_item_before_it_in_the_same_way() {
    let server = Server::start();
    let mut client = server.client();
    for (name, policy, outcome) in strategies() {
        let kind = format!("work.{name}");
        let answer = client.bulk(&[of(&kind, &policy, 1), of(&kind, &policy, 2)]);
        let status = if outcome == "rejected" { 207 } else { 201 };
        is_sound(&mut client, &answer, status);
        assert_eq!(answer["items"][0]["outcome"], "created", "{name}");
        let holder = answer.text("/items/0/job/id").to_owned();
        check(&mut client, &answer["items"][1], &holder, outcome);
    }
}

#[test]
fn an_item_that_updates_a_scheduled_holder_names_what_changed() {
    let server = Server::start();
    let mut client = server.client();
    let scheduled = |number| {
        of("work", &json!({"on_conflict": "replace_except_schedule"}), number)
            .with("scheduled_at", FAR_FUTURE)
    };
    let answer = client.bulk(&[scheduled(1), scheduled(2)]);
    is_sound(&mut client, &answer, 201);
    assert_eq!(column(&answer, "outcome"), ["created", "updated"]);
    assert_eq!(answer["items"][1]["updated"], json!(["args"]));
}

#[test]
fn an_item_beside_a_running_holder_queues_or_supersedes() {
    let server = Server::start();
    let mut client = server.client();
    let latest = json!({"while_active": "queue_latest", "on_conflict": "ignore"});
    client.create(&of("work.latest", &latest, 1));
    client.create(&job("work.named").job_key("name"));
    let running = client.fetch("default", 2);
    let answer = client.bulk(&[
        of("work.latest", &latest, 2),
        of("work.latest", &latest, 3),
        job("work.named").job_key("name"),
        job("work.named").job_key("name"),
    ]);
    is_sound(&mut client, &answer, 201);
    assert_eq!(column(&answer, "outcome"), ["created", "updated", "created", "updated"]);
    assert_eq!(answer["items"][0]["job"]["unique"]["waits_for"], running[0].id.as_str());
    assert_eq!(answer["items"][1]["job"]["id"], answer["items"][0]["job"]["id"]);
    assert_ne!(answer["items"][2]["job"]["id"], running[1].id.as_str());
    for delivery in &running {
        client.ack(delivery).is(200);
    }
}

#[test]
fn a_hundred_duplicates_in_one_request_are_one_job() {
    let server = Server::start();
    let mut client = server.client();
    let jobs = vec![job("alone").on_conflict("ignore"); 100];
    let answer = client.bulk(&jobs);
    is_sound(&mut client, &answer, 201);
    let outcomes = column(&answer, "outcome");
    assert_eq!(outcomes[0], "created");
    assert!(outcomes[1..].iter().all(|outcome| outcome == "existing"), "{outcomes:?}");
    let id = answer.text("/items/0/job/id").to_owned();
    assert!(column(&answer, "job").iter().all(|job| job["id"] == id.as_str()));
    assert_eq!(client.job(&id)["unique"]["duplicates"]["count"], 99);
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn a_rejected_item_counts_in_the_holders_ledger_and_the_rest_go_on() {
    let server = Server::start();
    let mut client = server.client();
    let alone = job("alone").on_conflict("reject");
    let answer = client.bulk(&[alone.clone(), alone.clone(), job("other"), alone]);
    is_sound(&mut client, &answer, 207);
    assert_eq!(column(&answer, "status"), ["created", "duplicate", "created", "duplicate"]);
    let id = answer.text("/items/0/job/id").to_owned();
    assert_eq!(client.job(&id)["unique"]["duplicates"]["count"], 2);
    assert_eq!(answer["items"][3]["error"]["details"]["existing_job_id"], id.as_str());
    assert_eq!(answer["items"][3]["error"]["details"]["existing_job_state"], "available");
}

#[test]
fn the_error_of_a_rejected_item_is_that_of_a_single_enqueue() {
    let server = Server::start();
    let mut client = server.client();
    let alone = job("alone").on_conflict("reject");
    client.create(&alone);
    let single = client.enqueue(&alone);
    single.is_refusal(409, "duplicate");
    let bulk = client.bulk(&[job("other"), alone]);
    let error = &bulk["items"][1]["error"];
    for member in ["code", "type", "message", "retryable", "hint"] {
        assert_eq!(error[member], single["error"][member], "{member}");
    }
    for detail in ["existing_job_id", "existing_job_state", "uniqueness_key", "unique_key"] {
        assert_eq!(error["details"][detail], single["error"]["details"][detail], "{detail}");
    }
}
