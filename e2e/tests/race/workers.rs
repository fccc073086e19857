//! Workers that want the same job.

use std::collections::BTreeMap;
use std::sync::Barrier;

use e2e::{Server, job, together};
use serde_json::json;

#[test]
fn of_sixteen_fetchers_each_job_goes_to_one() {
    const JOBS: usize = 2_000;
    const FETCHERS: usize = 16;
    let server = Server::start();
    let jobs: Vec<_> = (0..JOBS).map(|_| job("work").json()).collect();
    server.client().post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is(201);
    let barrier = Barrier::new(FETCHERS);
    let deliveries = together(FETCHERS, |number| {
        let mut client = server.client();
        let mut found = Vec::new();
        barrier.wait();
        loop {
            let fetched = client.fetch("default", 1 + number % 4);
            if fetched.is_empty() {
                return found;
            }
            found.extend(fetched.into_iter().map(|delivery| (delivery.id, delivery.fence)));
        }
    });
    let deliveries = deliveries.concat();
    assert_eq!(deliveries.len(), JOBS);
    let by_id: BTreeMap<String, u64> = deliveries.into_iter().collect();
    assert_eq!(by_id.len(), JOBS, "a job was delivered twice");
    assert!(by_id.values().all(|fence| *fence == 1), "a first delivery has the first fence");
    assert_eq!(server.client().count("default", "active"), JOBS as u64);
}

#[test]
fn an_ack_and_a_cancel_at_once_have_one_winner() {
    const PAIRS: usize = 100;
    let server = Server::start();
    let mut client = server.client();
    let barrier = Barrier::new(2);
    for _ in 0..PAIRS {
        let id = client.create(&job("work"));
        let delivery = client.fetch_one("default");
        let statuses = together(2, |number| {
            let mut client = server.client();
            client.get("/ojs/v1/health").is(200);
            barrier.wait();
            if number == 0 { client.ack(&delivery).status } else { client.cancel(&id).status }
        });
        let state = client.state(&id);
        match statuses[..] {
            [200, 409] => assert_eq!(state, "completed"),
            [409, 200] => assert_eq!(state, "cancelled"),
            _ => panic!("ack and cancel were answered with {statuses:?}; the job is {state}"),
        }
    }
}
