//! A server that is killed loses no event of a change that it answered for.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::receiver::{Manner, Receiver};
use e2e::{Launch, Request, database_lives_on, job, together};

use super::{launch, state, subscribe, told};

/// Longer than it takes on a machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(2);
const ROUNDS: usize = 4;
/// Most jobs that one producer enqueues in a round: what is told of them has to arrive within [`PATIENCE`], on stores where
/// telling takes longer than enqueueing too.
const JOBS_MAX: usize = 60;

#[test]
fn every_accepted_job_is_told_through_kills() {
    // On a database that others share, nobody sends in the place of a dead server before its lease of 90 s is over.
    check(launch(), if database_lives_on() { 1 } else { ROUNDS });
}

/// On one server the order of the commits is that of the deliveries.
#[test]
fn on_the_embedded_store_the_order_is_that_of_the_commits_through_kills() {
    let receiver = check(Launch::embedded().args(&["--webhook-allow-private"]), ROUNDS);
    let mut names: Vec<String> = Vec::new();
    for arrival in receiver.arrivals() {
        let name = arrival.header("x-ojs-delivery-id").to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    assert!(names.is_sorted(), "what arrived for the first time came in order");
}

fn check(launch: Launch, rounds: usize) -> Receiver {
    let mut server = launch.start();
    let receiver = Receiver::start();
    let subscription = subscribe(&mut server.client(), &receiver, &["job.*"]);
    let mut accepted: BTreeSet<String> = BTreeSet::new();
    for round in 0..rounds {
        let heard = receiver.arrivals().len();
        let ids = thread::scope(|scope| {
            let load = scope.spawn(|| {
                together(4, |_| {
                    let mut client = server.client();
                    let mut ids = Vec::new();
                    let request = Request::post("/ojs/v1/jobs", job("a.b").text());
                    while ids.len() < JOBS_MAX
                        && let Ok(answer) = client.try_send(&request)
                    {
                        ids.push(answer.is(201).id());
                    }
                    ids
                })
            });
            clock::until("events arrive", SOON, || receiver.arrivals().len() > heard + 50);
            // Some die while the endpoint refuses: then more waits than is under way.
            if round % 2 == 1 {
                receiver.behave(Manner::Answers(503));
                clock::until("it waits", SOON, || {
                    receiver.arrivals().last().is_some_and(|last| last.manner == Manner::Answers(503))
                });
            }
            let pid = server.pid().to_string();
            let killed = std::process::Command::new("kill").args(["-KILL", &pid]).status();
            assert!(killed.is_ok_and(|status| status.success()));
            load.join().unwrap_or_else(|_| panic!("the producers failed")).concat()
        });
        accepted.extend(ids);
        receiver.behave(Manner::Answers(200));
        server.wait(SOON);
        server.start_again();
        let mut client = server.client();
        hurry(&mut client, &subscription);
    }
    let mut client = server.client();
    clock::until("nothing waits", PATIENCE, || {
        hurry(&mut client, &subscription);
        state(&mut client, &subscription)["pending"] == 0
    });
    let told: BTreeSet<String> = told(&receiver.arrivals())
        .into_iter()
        .filter(|(_, kind)| kind == "job.enqueued")
        .map(|(id, _)| id)
        .collect();
    let missing: Vec<&String> = accepted.difference(&told).collect();
    assert!(missing.is_empty(), "{} of {} were not told: {missing:?}", missing.len(), accepted.len());
    receiver
}

/// Does not wait for the next attempt of what failed.
fn hurry(client: &mut e2e::Client, subscription: &serde_json::Value) {
    let id = super::text(&subscription["id"]);
    let path = format!("/ojs/v1/webhooks/deliveries?subscription_id={id}&status=pending&limit=1");
    let waiting = client.get(&path);
    if let Some(first) =
        waiting["deliveries"][0]["id"].as_str().filter(|_| waiting["deliveries"][0]["attempts"] != 0)
    {
        client.send(&Request::post(&format!("/ojs/v1/webhooks/deliveries/{first}/retry"), ""));
    }
}
