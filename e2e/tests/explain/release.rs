//! `POST /ojs/v1/unique/keys/{key}/release`: the holder goes on without its key, and says so.

use e2e::clock::{self, SOON};
use e2e::{Answer, Client, Holder, INCOMPLETE, Request, Server, TERMINAL, job};
use serde_json::{Value, json};

use crate::{NO_KEYS, NOBODYS};

const REASON_CHARS_MAX: usize = 1_000;

#[track_caller]
fn release_with(client: &mut Client, key: &str, body: &Value) -> Answer {
    client.post(&format!("/ojs/v1/unique/keys/{key}/release"), body)
}

#[test]
fn a_running_holder_goes_on_and_can_be_acknowledged() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject");
    let holder = Holder::bring(&mut client, &send, "mail", "active");
    let key = client.key_of(&holder.id);
    let answer = release_with(&mut client, &key, &json!({"reason": "worker host is gone"}));
    assert_eq!(answer.is(200)["key"], key.as_str());
    assert_eq!(answer["released"], json!([{"job_id": holder.id, "state": "active"}]));
    assert_eq!(answer["remaining"], 0);
    let stored = client.job(&holder.id);
    assert_eq!(stored["state"], "active");
    assert!(stored["unique"]["uniqueness_key"].is_null(), "{stored}");
    let released = &stored["unique"]["released"];
    assert_eq!((&released["key"], &released["by"]), (&json!(key), &json!("operator")), "{stored}");
    assert_eq!(released["reason"], "worker host is gone");
    assert!(released["at"].is_string(), "{stored}");
    let next = client.enqueue(&send.on("mail"));
    assert_eq!(next.is(201)["outcome"], "created");
    assert_eq!(client.ack(holder.delivery()).is(200)["state"], "completed");
    assert_eq!(client.state(&next.id()), "available");
}

#[test]
fn a_holder_in_every_live_state_stays_where_it_is() {
    let server = Server::start();
    let mut client = server.client();
    for state in INCOMPLETE {
        let send = job(&format!("work.{state}")).on_conflict("reject");
        let holder = Holder::bring(&mut client, &send, state, state);
        let key = client.key_of(&holder.id);
        assert_eq!(client.release(&key).is(200)["released"][0]["state"], state);
        let stored = client.job(&holder.id);
        assert_eq!(stored["state"], state);
        assert!(stored["unique"]["released"]["reason"].is_null(), "{stored}");
        assert_eq!(client.enqueue(&send).is(201)["outcome"], "created", "{state}");
        client.key(&key).is(200);
    }
    assert_eq!(client.held_keys("").is(200)["held"], INCOMPLETE.len(), "the new ones alone");
}

#[test]
fn an_ended_holder_inside_its_window_gives_the_key_up_as_well() {
    let server = Server::start();
    let mut client = server.client();
    for state in TERMINAL {
        let once = job(&format!("once.{state}")).unique(json!({"states": "all", "period": "P1D"}));
        let holder = Holder::bring(&mut client, &once, state, state);
        let refused = client.enqueue(&once);
        let key = refused.is_refusal(409, "duplicate").text("/error/details/uniqueness_key").to_owned();
        let answer = client.release(&key);
        assert_eq!(answer.is(200)["released"], json!([{"job_id": holder.id, "state": state}]));
        assert_eq!(client.enqueue(&once).is(201)["outcome"], "created", "{state}");
        assert_eq!(client.state(&holder.id), state);
    }
}

#[test]
fn all_holders_of_a_key_give_it_up() {
    let server = Server::start();
    let mut client = server.client();
    let apart = job("a.b").unique(json!({"states": ["completed"]}));
    let answer = client.bulk(&vec![apart; 20]);
    let key = answer.is(201).text("/items/0/job/unique/uniqueness_key").to_owned();
    let released = client.release(&key);
    assert_eq!(released.is(200)["released"].as_array().map(Vec::len), Some(20));
    client.key(&key).is_refusal(404, "not_found");
    client.release(&key).is_refusal(404, "not_found");
    assert_eq!(client.fetch("default", 20).len(), 20, "they go on");
}

#[test]
fn a_request_releases_ten_thousand_at_most_and_says_how_many_remain() {
    const RELEASED_MAX: usize = 10_000;
    let server = Server::start();
    let mut client = server.client();
    let apart = job("a.b").unique(json!({"states": ["completed"]}));
    let answer = client.bulk(&vec![apart.clone(); RELEASED_MAX]);
    let key = answer.is(201).text("/items/0/job/unique/uniqueness_key").to_owned();
    client.bulk(&vec![apart; 3]).is(201);
    let first = client.release(&key);
    assert_eq!(first.is(200)["released"].as_array().map(Vec::len), Some(RELEASED_MAX));
    assert_eq!(first["remaining"], 3);
    assert_eq!(client.key(&key).is(200)["holders_live"], 3);
    let second = client.release(&key);
    assert_eq!(
        (second.is(200)["released"].as_array().map(Vec::len), &second["remaining"]),
        (Some(3), &json!(0))
    );
}

#[test]
fn a_released_job_is_retried_as_before_and_meets_nobody() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject").retried(1, 5);
    let id = client.create(&send);
    let running = client.fetch_one("default");
    let key = client.key_of(&id);
    client.release(&key).is(200);
    let other = client.create(&send.with("scheduled_at", "+PT1H"));
    assert_eq!(client.nack(&running).is(200)["state"], "retryable");
    clock::until("the retry is due", SOON, || client.state(&id) == "available");
    let job = client.job(&id);
    assert!(job["unique"]["reentered_beside"].is_null(), "it has no key to meet another by: {job}");
    assert_eq!(client.state(&other), "scheduled");
}

#[test]
fn a_job_key_can_be_released_too() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").job_key("name"));
    let key = client.key_of(&id);
    client.release(&key).is(200);
    let stored = client.job(&id);
    assert!(stored["job_key"].is_null(), "{stored}");
    assert_eq!(
        (&stored["state"], &stored["unique"]["released"]["by"]),
        (&json!("available"), &json!("operator"))
    );
    client.remove_job_key("name").is_refusal(404, "not_found");
    assert_eq!(client.enqueue(&job("a.b").job_key("name")).is(201)["outcome"], "created");
}

#[test]
fn a_release_survives_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    let holder = Holder::bring(&mut client, &job("a.b").on_conflict("reject"), "q", "active");
    let key = client.key_of(&holder.id);
    release_with(&mut client, &key, &json!({"reason": "stuck"})).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(client.job(&holder.id)["unique"]["released"]["reason"], "stuck");
    client.key(&key).is_refusal(404, "not_found");
    client.create(&job("a.b").on_conflict("reject"));
    client.ack(holder.delivery()).is(200);
}

#[test]
fn a_reason_has_a_limit_and_nothing_else_may_be_said() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").on_conflict("reject"));
    let key = client.key_of(&id);
    let bad = [
        (json!({"reason": "x".repeat(REASON_CHARS_MAX + 1)}), "reason"),
        (json!({"reason": 5}), "reason"),
        (json!({"reason": ["x"]}), "reason"),
        (json!({"resaon": "x"}), "resaon"),
        (json!({"reason": "x", "force": true}), "force"),
        (json!([]), "object"),
        (json!("reason"), "object"),
    ];
    for (body, word) in bad {
        let answer = release_with(&mut client, &key, &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.is_error(400).message().contains(word), "no {word} in {}", answer.body);
    }
    assert_eq!(client.key_of(&id), key, "nothing was released");
    let long = json!({"reason": "é".repeat(REASON_CHARS_MAX)});
    release_with(&mut client, &key, &long).is(200);
    assert_eq!(client.job(&id)["unique"]["released"]["reason"], long["reason"]);
}

#[test]
fn the_body_may_be_missing_empty_or_without_a_reason() {
    let server = Server::start();
    let mut client = server.client();
    for (number, body) in ["{}", r#"{"reason":null}"#].iter().enumerate() {
        let id = client.create(&job(&format!("a.n{number}")).on_conflict("reject"));
        let key = client.key_of(&id);
        client.send(&Request::post(&format!("/ojs/v1/unique/keys/{key}/release"), *body)).is(200);
        assert!(client.job(&id)["unique"]["released"]["reason"].is_null());
    }
}

#[test]
fn a_key_that_nobody_carries_is_not_found_and_a_text_that_is_no_key_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    client.release(NOBODYS).is_refusal(404, "not_found");
    for text in NO_KEYS {
        let answer = client.release(text);
        assert_eq!(answer.status, 400, "{text}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
    }
}
