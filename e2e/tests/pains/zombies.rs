//! Class 7, zombies: a worker that lost its job learns so, and changes nothing.

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery, Server, job};
use serde_json::{Value, json};

/// Everything that a zombie can say is refused, and nothing changes by it.
#[track_caller]
fn is_refused_everything(client: &mut Client, zombie: &Delivery, what: &str) {
    let before = client.job(&zombie.id);
    client.ack(zombie).is_refusal(409, "lease_lost");
    client.nack(zombie).is_refusal(409, "lease_lost");
    client.give_up(zombie).is_refusal(409, "lease_lost");
    client.hand_back(zombie).is_refusal(409, "lease_lost");
    let beat = client.heartbeat("zombie", &[&zombie.id]);
    assert_eq!(beat.is(200)["lost_jobs"], json!([zombie.id]), "{what}");
    assert_eq!(client.job(&zombie.id), before, "{what}");
}

/// A job in the hands of a worker that calls itself a zombie.
#[track_caller]
fn taken(client: &mut Client, visibility_ms: u64) -> Delivery {
    let body = json!({"queues": ["default"], "worker_id": "zombie", "visibility_timeout_ms": visibility_ms});
    client.fetch_with(&body).pop().unwrap_or_else(|| panic!("nothing to fetch"))
}

#[test]
fn class_07_the_worker_of_a_replaced_job_is_told_and_the_new_holder_keeps_the_key() {
    for strategy in ["replace", "replace_except_schedule"] {
        let server = Server::start();
        let mut client = server.client();
        let alone = job("alone").on_conflict(strategy);
        client.create(&alone);
        let zombie = taken(&mut client, 60_000);
        let new = client.create(&alone);
        is_refused_everything(&mut client, &zombie, strategy);
        let refused = client.enqueue(&job("alone").on_conflict("reject"));
        assert_eq!(refused.is(409)["error"]["details"]["existing_job_id"], new.as_str());
        assert_eq!(client.state(&new), "available", "{strategy}");
    }
}

#[test]
fn class_07_the_worker_of_a_cancelled_job_is_told() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("alone").on_conflict("reject"));
    let zombie = taken(&mut client, 60_000);
    client.cancel(&id).is(200);
    is_refused_everything(&mut client, &zombie, "cancelled");
    let next = client.create(&job("alone").on_conflict("reject"));
    client.ack(&zombie).is_refusal(409, "lease_lost");
    assert_eq!(client.state(&next), "available");
}

#[test]
fn class_07_the_worker_of_a_job_that_another_one_has_now_is_told() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("alone").on_conflict("reject"));
    let zombie = taken(&mut client, 200);
    let rescued = clock::eventually("the lease runs out", SOON, || client.fetch("default", 1).pop());
    assert_eq!(rescued.id, zombie.id);
    assert!(rescued.fence > zombie.fence);
    let before = client.job(&zombie.id);
    client.ack(&zombie).is_refusal(409, "lease_lost");
    client.nack(&zombie).is_refusal(409, "lease_lost");
    assert_eq!(client.job(&zombie.id), before);
    client.enqueue(&job("alone").on_conflict("reject")).is_refusal(409, "duplicate");
    client.ack(&rescued).is(200);
}

#[test]
fn class_07_the_worker_of_a_removed_job_is_told_that_there_is_none() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("named").job_key("name").retried(60_000, 5));
    let zombie = taken(&mut client, 60_000);
    client.nack(&zombie).is(200);
    client.remove_job_key("name").is(200);
    client.ack(&zombie).is_refusal(404, "not_found");
    client.nack(&zombie).is_refusal(404, "not_found");
}

#[test]
fn class_07_the_worker_of_a_superseded_job_ends_its_own_and_no_other() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("named").job_key("name"));
    let old = taken(&mut client, 60_000);
    let new = client.create(&job("named").job_key("name"));
    let before = client.job(&new);
    client.ack(&old).is(200);
    is_refused_everything(&mut client, &old, "superseded and done");
    assert_eq!(client.job(&new), before);
    assert_eq!(client.enqueue(&job("named").keyed("name", "unsafe_dedupe")).is(200).id(), new);
}

#[test]
fn class_07_the_worker_of_a_released_job_is_no_zombie() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("alone").on_conflict("reject"));
    let running = taken(&mut client, 60_000);
    let key = client.key_of(&id);
    client.release(&key).is(200);
    let new = client.create(&job("alone").on_conflict("reject"));
    assert_eq!(client.heartbeat("zombie", &[&id]).is(200)["lost_jobs"], json!([]));
    client.ack(&running).is(200);
    assert_eq!(client.state(&new), "available");
    client.enqueue(&job("alone").on_conflict("reject")).is_refusal(409, "duplicate");
}

/// A job of version 1 whose worker is silent until the lease runs out, updated to version 2 then. The zombie has done
/// the work of version 1, and nobody has done that of version 2.
#[track_caller]
fn check_update_after_lapse(policy: &Value) {
    let server = Server::start();
    let mut client = server.client();
    let version = |number: u32| job("sync").args(json!([[number]])).unique(policy.clone());
    let id = client.create(&version(1));
    let body = json!({"queues": ["default"], "visibility_timeout_ms": 200});
    let zombie = clock::eventually("it can be fetched", SOON, || client.fetch_with(&body).pop());
    clock::until("the lease runs out", SOON, || client.state(&id) == "available");
    let answer = client.enqueue(&version(2));
    assert_eq!((&answer.is(200)["outcome"], answer.id()), (&json!("updated"), id));
    assert_eq!(answer["job"]["state"], "available");
    client.ack(&zombie).is_refusal(409, "lease_lost");
    let next = client.fetch_one("default");
    assert!(next.job["args"][0].as_array().is_some_and(|items| items.contains(&json!(2))), "{}", next.job);
}

#[test]
fn class_07_a_late_ack_does_not_swallow_what_a_debounced_job_took_over_since() {
    check_update_after_lapse(&json!({"debounce": {"wait": "PT0.05S", "max_wait": "PT0.05S"}}));
}

#[test]
fn class_07_a_late_ack_does_not_swallow_what_an_updated_job_took_over_since() {
    check_update_after_lapse(&json!({"replace": ["args"]}));
}
