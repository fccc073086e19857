//! Each strategy against a holder in each state.

use e2e::clock::{self, SOON};
use e2e::{Client, EVERY_STATE, FAR_FUTURE, Holder, INCOMPLETE, Job, Server, TERMINAL, job};
use serde_json::json;

/// A job unique by its type in every state, so that terminal holders count too.
fn duplicate(kind: &str, strategy: &str) -> Job {
    job(kind).unique(json!({"keys": ["type"], "states": "all", "on_conflict": strategy}))
}

/// Runs a case on a holder in each of the states, each with a type and a queue of its own.
fn for_each(states: &[&str], strategy: &str, case: impl Fn(&mut Client, &str, &Holder, &Job)) {
    let server = Server::start();
    let mut client = server.client();
    for state in states {
        let job = duplicate(&format!("work.{state}"), strategy).args(json!([{"version": 1}]));
        let queue = format!("queue-{state}");
        let holder = Holder::bring(&mut client, &job, &queue, state);
        case(&mut client, state, &holder, &job.on(&queue).args(json!([{"version": 2}])));
    }
}

#[test]
fn reject_leaves_the_holder_as_it_is_in_every_state() {
    for_each(&EVERY_STATE, "reject", |client, state, holder, job| {
        let answer = client.enqueue(job);
        answer.is_refusal(409, "duplicate");
        assert_eq!(answer["error"]["details"]["existing_job_id"], holder.id.as_str(), "{state}");
        assert_eq!(answer["error"]["details"]["existing_job_state"], *state);
        assert_eq!(answer["error"]["details"]["outcome"], "rejected");
        assert_eq!(client.state(&holder.id), *state);
        assert_eq!(client.job(&holder.id)["args"], json!([{"version": 1}]), "{state}");
    });
}

#[test]
fn ignore_answers_with_the_holder_in_every_state() {
    for_each(&EVERY_STATE, "ignore", |client, state, holder, job| {
        let answer = client.enqueue(job);
        answer.is(200);
        assert_eq!(answer.id(), holder.id, "{state}");
        assert_eq!(answer["deduplicated"], true, "{state}");
        assert_eq!(answer["outcome"], "existing", "{state}");
        assert_eq!(answer["job"]["state"], *state);
        assert_eq!(client.job(&holder.id)["args"], json!([{"version": 1}]), "{state}");
    });
}

#[test]
fn replace_calls_off_every_holder_that_waits_or_runs() {
    for_each(&INCOMPLETE, "replace", |client, state, holder, job| {
        let answer = client.enqueue(job);
        answer.is(201);
        assert_eq!(answer["outcome"], "replaced", "{state}");
        assert_eq!(answer["replaced"], json!([holder.id]), "{state}");
        assert_ne!(answer.id(), holder.id, "{state}");
        assert_eq!(client.state(&holder.id), "cancelled", "{state}");
        assert_eq!(client.job(&holder.id)["previous_state"], *state);
        assert_eq!(client.state(&answer.id()), "available", "{state}");
    });
}

#[test]
fn replace_leaves_a_finished_holder_as_it_is_and_creates() {
    for_each(&TERMINAL, "replace", |client, state, holder, job| {
        let answer = client.enqueue(job);
        answer.is(201);
        assert_eq!(answer["outcome"], "created", "{state}");
        assert!(answer["replaced"].as_array().is_none_or(Vec::is_empty), "{}", answer.body);
        assert_eq!(client.state(&holder.id), *state);
    });
}

#[test]
fn replace_revokes_the_lease_of_a_running_holder() {
    let server = Server::start();
    let mut client = server.client();
    let job = job("resize").on_conflict("replace");
    client.create(&job);
    let body = json!({"queues": ["default"], "worker_id": "w-1"});
    let running = client.fetch_with(&body).pop().expect("a job");
    let next = client.create(&job);

    let beat = client.heartbeat("w-1", &[&running.id]);
    assert_eq!(beat.is(200)["lost_jobs"], json!([running.id]));
    client.ack(&running).is_refusal(409, "lease_lost");
    assert_eq!(client.state(&running.id), "cancelled");
    assert_eq!(client.fetch_one("default").id, next);
}

#[test]
fn replace_except_schedule_updates_a_scheduled_holder_in_place() {
    for_each(&["scheduled"], "replace_except_schedule", |client, _, holder, job| {
        let later = "2098-01-01T00:00:00Z";
        let answer = client.enqueue(&job.clone().with("scheduled_at", later).with("priority", 7));
        answer.is(200);
        assert_eq!(answer.id(), holder.id);
        assert_eq!(answer["deduplicated"], true);
        assert_eq!(answer["outcome"], "updated");
        let updated = answer.list("/updated");
        for field in ["args", "priority"] {
            assert!(updated.contains(&json!(field)), "{}", answer.body);
        }
        assert!(!updated.contains(&json!("scheduled_at")), "{}", answer.body);
        let stored = client.job(&holder.id);
        assert_eq!(stored["state"], "scheduled");
        assert_eq!(stored["scheduled_at"], FAR_FUTURE);
        assert_eq!(stored["args"], json!([{"version": 2}]));
        assert_eq!(stored["priority"], 7);
    });
}

#[test]
fn replace_except_schedule_replaces_every_other_holder() {
    let states = ["available", "pending", "retryable", "active"];
    for_each(&states, "replace_except_schedule", |client, state, holder, job| {
        let answer = client.enqueue(job);
        answer.is(201);
        assert_eq!(answer["outcome"], "replaced", "{state}");
        assert_eq!(answer["replaced"], json!([holder.id]), "{state}");
        assert_eq!(client.state(&holder.id), "cancelled", "{state}");
    });
}

#[test]
fn replace_except_schedule_leaves_a_finished_holder_as_it_is() {
    for_each(&TERMINAL, "replace_except_schedule", |client, state, holder, job| {
        assert_eq!(client.enqueue(job).is(201)["outcome"], "created", "{state}");
        assert_eq!(client.state(&holder.id), *state);
    });
}

#[test]
fn replace_calls_off_all_of_several_holders() {
    let server = Server::start();
    let mut client = server.client();
    let narrow = json!({"keys": ["type"], "states": ["completed"]});
    let first = client.create(&job("sync").unique(narrow.clone()));
    // Of two that were accepted in the same millisecond neither is newer.
    let accepted = clock::unix_ms();
    clock::until("a later millisecond", SOON, || clock::unix_ms() > accepted);
    let second = client.create(&job("sync").unique(narrow));
    let answer = client.enqueue(&job("sync").on_conflict("replace"));
    answer.is(201);
    assert_eq!(answer["replaced"], json!([second, first]), "the newest is named first");
    assert_eq!(client.state(&first), "cancelled");
    assert_eq!(client.state(&second), "cancelled");
}

#[test]
fn a_job_without_a_policy_never_conflicts() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("sync"));
    client.create(&job("sync").on_conflict("reject"));
    client.create(&job("sync"));
    assert_eq!(client.count("default", "available"), 3);
}
