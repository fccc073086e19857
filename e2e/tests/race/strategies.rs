//! Each strategy, with nobody there before.

use std::collections::BTreeSet;

use e2e::{Answer, FAR_FUTURE, Job, Server, job, together};
use serde_json::{Value, json};

use crate::{RACERS, READ_EVERY, one_created_and_the_rest_are, race, with_status};

/// The job of a round, unique by the round, with these members of a policy.
fn with(policy: Value) -> impl Fn(usize, usize) -> Job + Sync {
    move |round, racer| {
        let mut policy = policy.clone();
        policy["key"] = json!(format!("round-{round}"));
        job("race").args(json!([[racer]])).unique(policy)
    }
}

fn by_policy(strategy: &str) -> impl Fn(usize, usize) -> Job + Sync {
    with(json!({"on_conflict": strategy}))
}

#[test]
fn of_fifty_that_may_be_rejected_exactly_one_is_created() {
    race("available", by_policy("reject"), |client, round, answers| {
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
    race("available", by_policy("ignore"), |client, round, answers| {
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
    race("available", by_policy("replace"), |client, round, answers| {
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
fn of_fifty_that_update_a_scheduled_job_exactly_one_is_created() {
    let job = by_policy("replace_except_schedule");
    let scheduled = |round, racer| job(round, racer).with("scheduled_at", FAR_FUTURE);
    race("scheduled", scheduled, |_, round, answers| {
        one_created_and_the_rest_are(answers, "updated", round);
    });
}

#[test]
fn of_fifty_that_update_a_waiting_job_exactly_one_is_created() {
    race("available", with(json!({"replace": ["args", "priority"]})), |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        if round % READ_EVERY == 0 {
            assert_eq!(client.job(&id)["unique"]["duplicates"]["count"], RACERS - 1, "round {round}");
        }
    });
}

#[test]
fn of_fifty_that_wait_for_each_other_exactly_one_is_created_and_has_the_arguments_of_all() {
    race("scheduled", with(json!({"debounce": {"wait": "PT1H"}})), |client, round, answers| {
        let id = one_created_and_the_rest_are(answers, "updated", round);
        if round % READ_EVERY == 0 {
            let args = client.job(&id)["args"][0].clone();
            let racers: BTreeSet<u64> =
                args.as_array().expect("items").iter().filter_map(Value::as_u64).collect();
            assert_eq!(racers.len(), RACERS, "round {round}: {args}");
            assert_eq!(args.as_array().map(Vec::len), Some(RACERS), "round {round}: {args}");
        }
    });
}

#[test]
fn of_fifty_that_would_queue_exactly_one_is_created_while_nothing_runs() {
    let latest = json!({"while_active": "queue_latest", "on_conflict": "ignore"});
    race("available", with(latest), |_, round, answers| {
        one_created_and_the_rest_are(answers, "existing", round);
    });
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
