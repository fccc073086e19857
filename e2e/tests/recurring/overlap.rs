//! What happens when the job before has not ended, by the policy.

use e2e::Server;

use crate::{YEARLY, entry, made, register, run};

#[test]
fn skip_makes_no_job_beside_another() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "skip"));
    let first = made(&mut client, "nightly");
    for _ in 0..2 {
        let skipped = run(&mut client, "nightly");
        assert_eq!(skipped["triggered"], false, "{}", skipped.body);
        assert_eq!(skipped["reason"], "overlap_prevention");
        assert_eq!(skipped["existing_job_id"], first.as_str());
    }
    let delivery = client.fetch_one("nightly");
    assert_eq!(delivery.id, first);
    assert_eq!(run(&mut client, "nightly")["triggered"], false, "it runs");
    client.ack(&delivery).is(200);
    let second = made(&mut client, "nightly");
    assert_ne!(first, second);
    assert_eq!(client.get("/ojs/v1/cron/nightly")["cron_job"]["run_count"], 2);
}

#[test]
fn allow_makes_another() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "allow"));
    let (first, second) = (made(&mut client, "nightly"), made(&mut client, "nightly"));
    assert_ne!(first, second);
    let fetched: Vec<String> = client.fetch("nightly", 9).into_iter().map(|delivery| delivery.id).collect();
    assert_eq!(fetched, [first, second]);
}

#[test]
fn cancel_previous_calls_the_other_off() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "cancel_previous"));
    let first = made(&mut client, "nightly");
    let running = client.fetch_one("nightly");
    let second = made(&mut client, "nightly");
    assert_eq!((client.state(&first).as_str(), client.state(&second).as_str()), ("cancelled", "available"));
    client.ack(&running).is_error(409);
    let third = made(&mut client, "nightly");
    assert_eq!((client.state(&second).as_str(), client.state(&third).as_str()), ("cancelled", "available"));
}

#[test]
fn enqueue_lets_jobs_run_one_after_the_other() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "enqueue"));
    let ids: Vec<String> = (0..3).map(|_| made(&mut client, "nightly")).collect();
    for id in &ids {
        let delivery = client.fetch_one("nightly");
        assert_eq!(delivery.id, *id);
        assert!(client.fetch("nightly", 9).is_empty(), "two at a time");
        client.ack(&delivery).is(200);
    }
}

#[test]
fn a_queue_of_jobs_goes_on_after_one_that_failed_and_one_that_was_called_off() {
    let server = Server::start();
    let mut client = server.client();
    register(&mut client, &entry("nightly", YEARLY, "enqueue"));
    let ids: Vec<String> = (0..4).map(|_| made(&mut client, "nightly")).collect();
    let delivery = client.fetch_one("nightly");
    client.give_up(&delivery).is(200);
    let delivery = client.fetch_one("nightly");
    assert_eq!(delivery.id, ids[1]);
    client.cancel(&ids[1]).is(200);
    let delivery = client.fetch_one("nightly");
    assert_eq!(delivery.id, ids[2]);
    client.ack(&delivery).is(200);
    assert_eq!(client.fetch_one("nightly").id, ids[3]);
}
