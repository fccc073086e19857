//! `GET /ojs/v1/unique/keys/{key}`: who carries a key, now and lately.

use e2e::{Holder, Server, job};
use serde_json::{Value, json};

use crate::{NO_KEYS, NOBODYS};

#[test]
fn holders_now_and_lately_are_shown_newest_first() {
    let server = Server::start();
    let mut client = server.client();
    let send = job("email.send").on_conflict("reject");
    let done = Holder::bring(&mut client, &send, "mail", "completed");
    let live = client.create(&send.clone().on("mail"));
    client.enqueue(&send).is(409);
    let key = client.key_of(&live);
    let answer = client.key(&key);
    assert_eq!(answer.is(200)["key"], key.as_str());
    assert_eq!(answer["held"], true);
    assert_eq!((&answer["holders_live"], &answer["holders_ended"]), (&json!(1), &json!(1)));
    let holders = answer.list("/holders");
    let ids: Vec<&Value> = holders.iter().map(|holder| &holder["job_id"]).collect();
    assert_eq!(ids, [&json!(live), &json!(done.id)]);
    assert_eq!((&holders[0]["held"], &holders[1]["held"]), (&json!(true), &json!(false)));
    assert_eq!((&holders[0]["state"], &holders[1]["state"]), (&json!("available"), &json!("completed")));
    for holder in holders {
        assert_eq!((&holder["type"], &holder["queue"]), (&json!("email.send"), &json!("mail")), "{holder}");
        assert!(holder["created_at"].is_string(), "{holder}");
        assert_eq!(holder["unique"]["on_conflict"], "reject", "{holder}");
    }
    assert_eq!(holders[0]["duplicates"]["count"], 1, "{}", holders[0]);
    assert_eq!(holders[0]["duplicates"]["recent"][0]["outcome"], "rejected", "{}", holders[0]);
}

#[test]
fn a_key_of_ended_jobs_alone_is_shown_and_not_held() {
    let server = Server::start();
    let mut client = server.client();
    let holder = Holder::bring(&mut client, &job("a.b").on_conflict("reject"), "q", "completed");
    let key = client.explain(&job("a.b").on_conflict("reject")).text("/key").to_owned();
    let answer = client.key(&key);
    assert_eq!(answer.is(200)["held"], false);
    assert_eq!(answer["holders"][0]["job_id"], holder.id.as_str());
    assert_eq!((&answer["holders_live"], &answer["holders_ended"]), (&json!(0), &json!(1)));
}

#[test]
fn a_job_that_came_back_beside_another_says_so() {
    let server = Server::start();
    let mut client = server.client();
    let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let dead = client.create(&job("sync").on_conflict("reject").with("retry", retry));
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    let live = client.create(&job("sync").on_conflict("reject"));
    client.post(&format!("/ojs/v1/dead-letter/{dead}/retry"), &json!({})).is(200);
    let key = client.key_of(&live);
    let answer = client.key(&key);
    assert_eq!(answer.is(200)["holders_live"], 2);
    assert_eq!(answer["holders"][1]["job_id"], dead.as_str());
    assert_eq!(answer["holders"][1]["reentered_beside"], live.as_str(), "{}", answer.body);
}

#[test]
fn a_holder_says_what_frees_its_own_hold() {
    let server = Server::start();
    let mut client = server.client();
    let by_time = client.create(&job("by.time").unique(json!({"period": "PT1H"})));
    let key = client.key_of(&by_time);
    let free = client.key(&key).is(200)["holders"][0]["free"].clone();
    assert!(free["at"].is_string(), "{free}");
    let by_end = client.create(&job("by.end").on_conflict("reject"));
    let key = client.key_of(&by_end);
    let free = client.key(&key).is(200)["holders"][0]["free"].clone();
    assert!(free["at"].is_null(), "{free}");
    assert_eq!(free["states"].as_array().map(Vec::len), Some(3), "{free}");
}

#[test]
fn a_job_key_is_shown_by_its_name() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").job_key("name"));
    let key = client.key_of(&id);
    assert_eq!(client.key(&key).is(200)["holders"][0]["job_key"], "name");
}

#[test]
fn a_page_of_holders_has_a_limit() {
    let server = Server::start();
    let mut client = server.client();
    let apart = job("a.b").unique(json!({"states": ["completed"]}));
    let answer = client.bulk(&vec![apart; 120]);
    let key = answer.is(201).text("/items/0/job/unique/uniqueness_key").to_owned();
    for (query, count) in [("", 100), ("?limit=5", 5), ("?limit=1000", 120), ("?limit=99999", 120)] {
        let answer = client.key(&format!("{key}{query}"));
        assert_eq!(answer.is(200)["holders"].as_array().map(Vec::len), Some(count), "{query}");
        assert_eq!(answer["holders_live"], 120, "{query}");
    }
}

#[test]
fn a_key_that_nobody_carries_is_not_found_and_a_text_that_is_no_key_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    client.key(NOBODYS).is_refusal(404, "not_found");
    for text in NO_KEYS {
        let answer = client.key(text);
        assert_eq!(answer.status, 400, "{text}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains("64"), "{}", answer.body);
    }
}
