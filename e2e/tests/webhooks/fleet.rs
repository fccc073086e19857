//! Servers that share a database: each delivery is sent by one of them.

use std::collections::HashMap;
use std::time::Duration;

use e2e::clock;
use e2e::fleet::{DATABASE, Fleet, SERVERS};
use e2e::receiver::Receiver;
use e2e::{Request, job, together};
use hapax_pg_cluster::{Cluster, Options};

use super::{launch, state, subscribe, text};

/// Longer than it takes on a machine that does other things too.
const PATIENCE: Duration = Duration::from_mins(2);
const JOBS: usize = 40;

#[test]
fn what_happens_on_any_server_arrives_once_and_the_events_of_a_job_in_order() {
    let cluster = Cluster::start(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let fleet = Fleet::on(cluster, &vec![launch(); SERVERS], |cluster| cluster.url(DATABASE));
    let receiver = Receiver::start();
    let subscription = subscribe(&mut fleet.client(0), &receiver, &["job.*"]);
    // Other servers hear of a subscription within a second or so.
    let mut tried = 0;
    clock::until("all servers know of it", PATIENCE, || {
        tried += 1;
        let ids: Vec<String> =
            (0..SERVERS).map(|server| fleet.client(server).create(&job("probe"))).collect();
        clock::until("nothing waits", PATIENCE, || {
            state(&mut fleet.client(0), &subscription)["pending"] == 0
        });
        let arrivals = receiver.arrivals();
        let is_told = |id: &String| arrivals.iter().any(|arrival| arrival.body.contains(id.as_str()));
        ids.iter().all(is_told)
    });
    together(SERVERS, |number| {
        let mut client = fleet.client(number);
        for _ in 0..JOBS {
            client.create(&job("work").on("work"));
        }
        let body = format!(r#"{{"queues":["work"],"worker_id":"w{number}","count":1}}"#);
        loop {
            let fetched = client.send(&Request::post("/ojs/v1/workers/fetch", body.as_str()));
            let Some(id) = fetched["jobs"][0]["id"].as_str() else { break };
            client.send(&Request::post("/ojs/v1/workers/ack", format!(r#"{{"job_id":"{id}"}}"#))).is(200);
        }
    });
    let mut client = fleet.client(1);
    clock::until("nothing waits", PATIENCE, || state(&mut client, &subscription)["pending"] == 0);
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut lives: HashMap<String, Vec<String>> = HashMap::new();
    for arrival in receiver.arrivals() {
        *names.entry(arrival.header("x-ojs-delivery-id").to_owned()).or_default() += 1;
        let event = arrival.event();
        if event["queue"] == "work" {
            lives
                .entry(text(&event["subject"]).to_owned())
                .or_default()
                .push(text(&event["type"]).to_owned());
        }
    }
    assert!(names.values().all(|count| *count == 1), "nobody died, so nothing is sent twice");
    assert_eq!(lives.len(), SERVERS * JOBS);
    for (id, life) in lives {
        assert_eq!(life, ["job.enqueued", "job.started", "job.completed"], "{id}");
    }
}
