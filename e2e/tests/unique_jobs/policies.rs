//! The parts of a policy: periods, anchors, states and their groups, and who is asked.

use e2e::clock::{self, SOON};
use e2e::{Client, FAR_FUTURE, Holder, Job, Server, job};
use serde_json::{Value, json};

fn policy(kind: &str, policy: &Value) -> Job {
    job(kind).unique(policy.clone())
}

/// Waits until the job is created, and says how long that took.
#[track_caller]
fn free_after(client: &mut Client, job: &Job) -> u128 {
    let started = clock::now();
    clock::until("the window closes", SOON, || client.enqueue(job).status == 201);
    started.elapsed().as_millis()
}

#[test]
fn a_period_may_be_seconds_or_have_no_end() {
    let server = Server::start();
    let mut client = server.client();
    let periods =
        [json!(3600), json!("PT1H"), json!("P1D"), json!("P1DT2H3M4.5S"), json!(null), json!("infinity")];
    for (number, period) in periods.iter().enumerate() {
        let job = policy(&format!("ping.n{number}"), &json!({"period": period}));
        client.create(&job);
        client.enqueue(&job).is_refusal(409, "duplicate");
    }
    let short = policy("ping.short", &json!({"period": 1}));
    client.create(&short);
    client.enqueue(&short).is_refusal(409, "duplicate");
    free_after(&mut client, &short);
}

#[test]
fn the_period_of_the_incoming_job_decides() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&policy("ping", &json!({"period": "PT0.2S"})));
    clock::until("the holder's own period has passed", SOON, || {
        client.enqueue(&policy("ping", &json!({"period": "PT1H"}))).is(409);
        client.enqueue(&policy("ping", &json!({"period": "PT0.2S"}))).status == 201
    });
}

#[test]
fn a_period_from_the_end_begins_when_the_holder_ends() {
    let server = Server::start();
    let mut client = server.client();
    let ping = policy("ping", &json!({"period": "PT0.6S", "period_from": "finished_at", "states": "all"}));
    client.create(&ping);
    let running = client.fetch_one("default");
    clock::throughout("an unfinished holder's window is open", std::time::Duration::from_millis(800), || {
        client.enqueue(&ping).status == 409
    });
    client.ack(&running).is(200);
    assert!(free_after(&mut client, &ping) >= 500, "the window began before the end");
}

#[test]
fn a_period_from_the_schedule_begins_there() {
    let server = Server::start();
    let mut client = server.client();
    let by_schedule = json!({"period": "PT0.1S", "period_from": "scheduled_at"});
    client.create(&policy("later", &by_schedule).with("scheduled_at", FAR_FUTURE));
    let since_creation = json!({"period": "PT0.1S"});
    clock::until("the period has passed since the creation", SOON, || {
        client.enqueue(&policy("later", &by_schedule)).is(409);
        client.enqueue(&policy("later", &since_creation)).status == 201
    });
    // A holder that was never scheduled counts from its creation.
    let never = policy("never", &by_schedule);
    client.create(&never);
    free_after(&mut client, &never);
}

#[test]
fn the_other_names_of_the_anchors_mean_the_same() {
    let server = Server::start();
    let mut client = server.client();
    for (number, member) in ["timestamp", "period_from"].iter().enumerate() {
        let ping = policy(&format!("ping.n{number}"), &json!({"period": "PT1H", *member: "inserted_at"}));
        client.create(&ping);
        client.enqueue(&ping).is_refusal(409, "duplicate");
    }
}

#[test]
fn groups_of_states_mean_what_they_say() {
    let groups = [
        ("all", "completed", true),
        ("all", "discarded", true),
        ("incomplete", "retryable", true),
        ("incomplete", "completed", false),
        ("scheduled", "scheduled", true),
        ("scheduled", "available", false),
        ("successful", "completed", true),
        ("successful", "active", true),
        ("successful", "discarded", false),
        ("successful", "cancelled", false),
    ];
    let server = Server::start();
    let mut client = server.client();
    for (number, (group, state, counts)) in groups.into_iter().enumerate() {
        let job = policy(&format!("group.n{number}"), &json!({"states": group}));
        Holder::bring(&mut client, &job, &format!("q{number}"), state);
        let expected = if counts { 409 } else { 201 };
        assert_eq!(client.enqueue(&job).status, expected, "{state} and the group {group}");
    }
}

#[test]
fn a_narrow_list_of_states_lets_the_others_pass() {
    let server = Server::start();
    let mut client = server.client();
    let narrow = policy("sync", &json!({"states": ["scheduled"]}));
    client.create(&narrow);
    client.create(&narrow);
    client.create(&narrow.clone().with("scheduled_at", FAR_FUTURE));
    client.enqueue(&narrow).is_refusal(409, "duplicate");
}

#[test]
fn the_states_of_the_incoming_job_decide() {
    let server = Server::start();
    let mut client = server.client();
    Holder::bring(&mut client, &job("sync").on_conflict("reject"), "q", "completed");
    client.enqueue(&policy("sync", &json!({"states": ["completed"]}))).is_refusal(409, "duplicate");
    client.create(&job("sync").on_conflict("reject"));
}

#[test]
fn every_stored_job_with_the_key_is_looked_at() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("send").on_conflict("reject");
    let done = Holder::bring(&mut client, &send, "q", "completed");
    Holder::bring(&mut client, &send, "q", "cancelled");
    let answer = client.enqueue(&policy("send", &json!({"states": ["completed"]})));
    answer.is_refusal(409, "duplicate");
    assert_eq!(answer["error"]["details"]["existing_job_id"], done.id.as_str());
}

#[test]
fn an_exhausted_holder_frees_its_key_and_a_retrying_one_does_not() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject").retried(10, 2);
    client.create(&send);
    let first = client.fetch_one("default");
    assert_eq!(client.nack(&first).is(200)["state"], "retryable");
    client.enqueue(&send).is_refusal(409, "duplicate");
    let again = clock::eventually("the retry", SOON, || client.fetch("default", 1).pop());
    client.enqueue(&send).is_refusal(409, "duplicate");
    assert_eq!(client.nack(&again).is(200)["state"], "discarded");
    client.create(&send);
}

#[test]
fn a_group_of_states_is_shown_as_its_states() {
    let groups = [
        ("incomplete", vec!["scheduled", "available", "pending", "active", "retryable"]),
        ("scheduled", vec!["scheduled"]),
        ("successful", vec!["scheduled", "available", "pending", "active", "retryable", "completed"]),
        (
            "all",
            vec![
                "scheduled",
                "available",
                "pending",
                "active",
                "retryable",
                "completed",
                "cancelled",
                "discarded",
            ],
        ),
    ];
    let server = Server::start();
    let mut client = server.client();
    for (group, states) in groups {
        let answer = client.enqueue(&policy(&format!("group.{group}"), &json!({"states": group})));
        let shown = answer.is(201)["job"]["unique"]["states"].as_array().expect("states").clone();
        assert_eq!(shown.len(), states.len(), "{group}: {shown:?}");
        assert!(states.iter().all(|state| shown.contains(&json!(state))), "{group}: {shown:?}");
    }
}
