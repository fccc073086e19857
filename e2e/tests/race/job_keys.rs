//! Each mode of a job key, with nobody there before.

use std::collections::BTreeSet;

use e2e::{FAR_FUTURE, Job, Server, job, together};
use serde_json::{Value, json};

use crate::{RACERS, READ_EVERY, one_created_and_the_rest_are, race};

fn by_name(mode: &str) -> impl Fn(usize, usize) -> Job + Sync {
    move |round, racer| job("race").payload(json!([racer])).keyed(&format!("round-{round}"), mode)
}

/// The distinct numbers of a list, and how many it has.
fn numbers(list: &Value) -> (usize, usize) {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let distinct: BTreeSet<u64> = items.iter().filter_map(Value::as_u64).collect();
    (distinct.len(), items.len())
}

#[test]
fn of_fifty_that_replace_by_name_exactly_one_is_created_and_no_item_is_lost() {
    race("available", by_name("replace"), |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        if round % READ_EVERY == 0 {
            assert_eq!(numbers(&client.job(&id)["args"][0]), (RACERS, RACERS), "round {round}");
        }
    });
}

#[test]
fn of_fifty_that_preserve_the_start_exactly_one_is_created_and_no_item_is_lost() {
    let job = by_name("preserve_run_at");
    let scheduled = |round, racer| job(round, racer).with("scheduled_at", FAR_FUTURE);
    race("scheduled", scheduled, |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        if round % READ_EVERY == 0 {
            assert_eq!(numbers(&client.job(&id)["args"][0]), (RACERS, RACERS), "round {round}");
        }
    });
}

#[test]
fn of_fifty_that_leave_the_holder_alone_exactly_one_is_created() {
    race("available", by_name("unsafe_dedupe"), |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "existing", round);
        if round % READ_EVERY == 0 {
            assert_eq!(numbers(&client.job(&id)["args"][0]), (1, 1), "round {round}");
        }
    });
}

#[test]
fn enqueues_and_removals_of_one_name_leave_one_job_or_none() {
    const CLIENTS: usize = 16;
    const EACH: usize = 60;
    let server = Server::start();
    let counts = together(CLIENTS, |number| {
        let mut client = server.client();
        let (mut created, mut removed) = (0, 0);
        for _ in 0..EACH {
            if number % 4 == 0 {
                let answer = client.remove_job_key("name");
                match answer.status {
                    200 => removed += answer["removed"].as_array().map_or(0, Vec::len),
                    _ => assert_eq!(answer.is_refusal(404, "not_found").status, 404),
                }
            } else {
                let answer = client.enqueue(&job("race").payload(json!([number])).job_key("name"));
                assert!(matches!(answer.status, 200 | 201), "{}", answer.body);
                created += usize::from(answer.status == 201);
            }
        }
        (created, removed)
    });
    let created: usize = counts.iter().map(|(created, _)| created).sum();
    let removed: usize = counts.iter().map(|(_, removed)| removed).sum();
    let left = server.client().count("default", "available");
    assert!(
        left <= 1 && created == removed + usize::try_from(left).unwrap_or(0),
        "{created} {removed} {left}"
    );
}
