//! When a key becomes free: at a time, or by an event.

use e2e::clock::{self, SOON};
use e2e::{FAR_FUTURE, Holder, Server, job};
use serde_json::{Value, json};

/// The names of a list.
fn names(list: &Value) -> Vec<&str> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_key_that_nobody_holds_is_free_now() {
    let server = Server::start();
    let mut client = server.client();
    let free = client.explain(&job("a.b").on_conflict("reject")).is(200)["free"].clone();
    assert_eq!(free["now"], true);
    assert_eq!(free["by"], json!([]));
    assert!(free["text"].as_str().is_some_and(|text| !text.is_empty()), "{free}");
}

#[test]
fn a_live_holder_without_a_period_frees_the_key_by_its_end() {
    for state in ["scheduled", "available", "pending", "retryable", "active"] {
        let server = Server::start();
        let mut client = server.client();
        let holder = Holder::bring(&mut client, &job("a.b").on_conflict("reject"), "q", state);
        let free = client.explain(&job("a.b").on_conflict("reject")).is(200)["free"].clone();
        assert_eq!(free["now"], false, "{state}: {free}");
        assert!(free["at"].is_null(), "{state}: {free}");
        assert_eq!(free["by"][0]["job_id"], holder.id.as_str(), "{state}");
        let mut states = names(&free["by"][0]["states"]);
        states.sort_unstable();
        assert_eq!(states, ["cancelled", "completed", "discarded"], "{state}");
        assert!(free["text"].as_str().is_some_and(|text| !text.is_empty()), "{free}");
    }
}

#[test]
fn a_period_frees_the_key_at_the_time_it_says() {
    let server = Server::start();
    let mut client = server.client();
    let ping = job("ping").unique(json!({"period": "PT0.5S", "on_conflict": "reject"}));
    let first = client.enqueue(&ping).is(201)["job"].clone();
    let told = client.explain(&ping).is(200)["free"].clone();
    assert_eq!(clock::ms_between(&first["created_at"], &told["at"]), 500);
    let at = told["at"].as_str().expect("a time").to_owned();
    assert_eq!(told["by"][0]["at"], at.as_str(), "{told}");
    let created = clock::eventually("the window closes", SOON, || {
        let answer = client.enqueue(&ping);
        (answer.status == 201).then(|| answer["job"]["created_at"].as_str().expect("a time").to_owned())
    });
    assert!(created >= at, "created at {created}, and told {at}");
}

#[test]
fn a_period_from_the_end_has_no_time_before_the_end() {
    let server = Server::start();
    let mut client = server.client();
    let ping = job("ping").unique(json!({"period": "PT1H", "period_from": "finished_at", "states": "all"}));
    client.create(&ping);
    let running = client.fetch_one("default");
    let free = client.explain(&ping).is(200)["free"].clone();
    assert!(free["at"].is_null(), "{free}");
    assert_eq!(free["by"][0]["states"], json!([]), "no state ends it: all of them count: {free}");
    let ended = client.ack(&running).is(200)["completed_at"].clone();
    let free = client.explain(&ping).is(200)["free"].clone();
    assert_eq!(clock::ms_between(&ended, &free["at"]), 60 * 60 * 1000, "{free}");
    assert_eq!(free["now"], false);
}

#[test]
fn a_period_from_the_schedule_counts_from_there() {
    let server = Server::start();
    let mut client = server.client();
    let later = job("later").unique(json!({"period": "PT1H", "period_from": "scheduled_at"}));
    client.create(&later.clone().with("scheduled_at", FAR_FUTURE));
    let free = client.explain(&later).is(200)["free"].clone();
    assert!(free["at"].as_str() > Some(FAR_FUTURE), "{free}");
}

#[test]
fn a_finished_holder_without_a_period_frees_the_key_when_it_is_removed() {
    let server = Server::start();
    let mut client = server.client();
    let once = job("once").unique(json!({"states": "all"}));
    let holder = Holder::bring(&mut client, &once, "q", "completed");
    let ended = client.job(&holder.id)["completed_at"].as_str().expect("a time").to_owned();
    let free = client.explain(&once).is(200)["free"].clone();
    assert!(free["at"].as_str() > Some(ended.as_str()), "{free}");
    assert_eq!(free["by"][0]["states"], json!([]), "nothing more can happen to it: {free}");
}

#[test]
fn of_several_holders_the_last_decides() {
    let server = Server::start();
    let mut client = server.client();
    let apart = job("ping").unique(json!({"states": ["completed"]}));
    client.bulk(&[apart.clone(), apart.clone()]).is(201);
    let by_period = client.explain(&job("ping").unique(json!({"period": "PT1H"}))).is(200)["free"].clone();
    assert_eq!(by_period["by"].as_array().map(Vec::len), Some(2), "{by_period}");
    let latest = by_period["by"].as_array().expect("holders").iter().filter_map(|by| by["at"].as_str()).max();
    assert_eq!(by_period["at"].as_str(), latest);
    client.create(&apart.with("scheduled_at", FAR_FUTURE));
    let by_schedule = json!({"period": "PT1S", "period_from": "scheduled_at"});
    let free = client.explain(&job("ping").unique(by_schedule)).is(200)["free"].clone();
    assert!(free["at"].as_str() > Some(FAR_FUTURE), "{free}");
}

#[test]
fn only_holders_that_count_stand_in_the_way() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").on_conflict("reject"));
    let answer = client.explain(&job("a.b").unique(json!({"states": ["scheduled"]})));
    assert_eq!(answer.is(200)["outcome"], "created");
    assert_eq!((&answer["free"]["now"], &answer["free"]["by"]), (&json!(true), &json!([])));
    assert_eq!(answer["holders"][0]["counts"], false);
}

#[test]
fn a_job_key_is_freed_by_completion_and_cancelling_alone() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").job_key("name"));
    let free = client.explain(&job("a.b").job_key("name")).is(200)["free"].clone();
    let mut states = names(&free["by"][0]["states"]);
    states.sort_unstable();
    assert_eq!(states, ["cancelled", "completed"], "{free}");
}
