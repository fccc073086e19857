//! Switching a recurring job off and on, running it by hand, registering it anew and removing it.

use std::time::Duration;

use e2e::clock;
use e2e::{Answer, Client, Request, Server};
use serde_json::json;

use crate::ticks::Ticks;
use crate::{EVERY_SECOND, YEARLY, entry, made, register};

fn switch(client: &mut Client, name: &str, enabled: bool) -> Answer {
    let request = Request::new("PATCH", &format!("/ojs/v1/cron/{name}"));
    let request = request.header("Content-Type", "application/json");
    client.send(&request.body(json!({"enabled": enabled}).to_string()))
}

#[test]
fn a_recurring_job_that_is_off_makes_nothing_and_goes_on_when_it_is_on() {
    let mut server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("beat", EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    ticks.await_more(&mut client, "beat", 1);
    let off = switch(&mut client, "beat", false);
    assert_eq!(off.is(200)["cron_job"]["status"], "disabled");
    assert!(off["cron_job"]["next_run_at"].is_null(), "{}", off.body);
    ticks.collect(&mut client, "beat");
    let before = ticks.len();
    server.crash_and_restart();
    let mut client = server.client();
    clock::throughout("it is off", Duration::from_millis(2200), || client.fetch("beat", 1).is_empty());
    assert_eq!(switch(&mut client, "beat", true).is(200)["cron_job"]["status"], "active");
    ticks.await_more(&mut client, "beat", 2);
    assert!(ticks.len() <= before + 4, "what was missed is not made up for: {:?}", ticks.moments());
}

#[test]
fn a_run_by_hand_leaves_the_schedule_alone() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "allow"));
    let before = client.get("/ojs/v1/cron/nightly")["cron_job"]["next_run_at"].clone();
    assert!(before.is_string(), "{before}");
    let id = made(&mut client, "nightly");
    let cron = client.get("/ojs/v1/cron/nightly").is(200)["cron_job"].clone();
    assert_eq!(cron["next_run_at"], before);
    assert_eq!((&cron["run_count"], &cron["last_job_id"]), (&json!(1), &json!(id)));
    let job = client.job(&id);
    assert_eq!(job["meta"]["cron_name"], "nightly");
    assert_eq!(job["meta"]["cron_triggered_at"], cron["last_run_at"]);
    switch(&mut client, "nightly", false).is(200);
    made(&mut client, "nightly");
}

#[test]
fn a_recurring_job_can_be_registered_anew_and_removed() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "allow"));
    let id = made(&mut client, "nightly");
    let anew = client.post("/ojs/v1/cron", &entry("nightly", "@hourly", "skip"));
    let cron = &anew.is(200)["cron_job"];
    assert_eq!((&cron["expression"], &cron["run_count"]), (&json!("@hourly"), &json!(1)));
    let listed = client.get("/ojs/v1/cron");
    assert_eq!(listed.is(200).list("/cron_jobs").len(), 1);
    client.delete("/ojs/v1/cron/nightly").is(200);
    client.get("/ojs/v1/cron/nightly").is_refusal(404, "not_found");
    client.delete("/ojs/v1/cron/nightly").is_refusal(404, "not_found");
    switch(&mut client, "nightly", true).is_refusal(404, "not_found");
    client.post("/ojs/v1/cron/nightly/run", &json!({})).is_refusal(404, "not_found");
    assert_eq!(client.state(&id), "available", "jobs that it has made stay");
}
