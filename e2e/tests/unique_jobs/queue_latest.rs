//! One runs, one waits: a duplicate of a running job waits for its end, and the newest one wins.

use e2e::clock::{self, SOON};
use e2e::{Answer, Client, Delivery, FAR_FUTURE, Job, Server, job};
use serde_json::json;

/// A job that queues behind a running one, and otherwise does what the strategy says.
fn sync(strategy: &str) -> Job {
    job("repo.sync")
        .unique(json!({"keys": ["type"], "on_conflict": strategy, "while_active": "queue_latest"}))
}

/// A running job and its successor.
#[track_caller]
fn queued(client: &mut Client, successor: &Job) -> (Delivery, Answer) {
    client.create(&sync("ignore").args(json!([{"version": 1}])));
    let running = client.fetch_one("default");
    let answer = client.enqueue(successor);
    assert_eq!(answer.is(201)["outcome"], "created");
    (running, answer)
}

#[test]
fn while_nothing_runs_the_strategy_decides() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.create(&sync("ignore"));
    assert_eq!(client.enqueue(&sync("ignore")).is(200)["outcome"], "existing");
    client.enqueue(&sync("reject")).is_refusal(409, "duplicate");
    let replaced = client.enqueue(&sync("replace"));
    assert_eq!(replaced.is(201)["replaced"], json!([first]));
    let by_default = job("repo.sync").unique(json!({"while_active": "queue_latest"}));
    client.enqueue(&by_default).is_refusal(409, "duplicate");
}

#[test]
fn a_duplicate_of_a_running_job_is_stored_and_names_it() {
    for strategy in ["reject", "ignore", "replace", "replace_except_schedule"] {
        let server = Server::start();
        let mut client = server.client();
        let (running, successor) = queued(&mut client, &sync(strategy));
        let job = &successor["job"];
        assert_eq!(job["state"], "pending", "{strategy}");
        assert_eq!(job["unique"]["waits_for"], running.id.as_str(), "{strategy}");
        assert_eq!(job["unique"]["while_active"], "queue_latest", "{strategy}");
        assert_ne!(successor.id(), running.id, "{strategy}");
        assert_eq!(client.state(&running.id), "active", "{strategy}");
        assert!(client.fetch("default", 1).is_empty(), "{strategy}");
    }
}

#[test]
fn there_is_one_successor_and_the_newest_duplicate_wins() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore").payload(json!([2])));
    for version in 3..6 {
        let answer = client.enqueue(&sync("ignore").payload(json!([version])).with("priority", version));
        assert_eq!(answer.is(200)["outcome"], "updated");
        assert_eq!(answer.id(), successor.id());
        assert_eq!(answer["job"]["unique"]["waits_for"], running.id.as_str());
        assert_eq!(answer["job"]["args"], json!([[version]]), "it is taken over, not joined");
    }
    client.ack(&running).is(200);
    let next = client.fetch_one("default");
    assert_eq!((next.id, &next.job["args"]), (successor.id(), &json!([[5]])));
    assert!(client.fetch("default", 1).is_empty());
}

#[test]
fn a_successor_that_runs_has_a_successor_of_its_own() {
    let server = Server::start();
    let mut client = server.client();
    let (mut running, mut successor) = queued(&mut client, &sync("ignore"));
    for round in 0..3 {
        client.ack(&running).is(200);
        running = client.fetch_one("default");
        assert_eq!(running.id, successor.id(), "round {round}");
        successor = client.enqueue(&sync("ignore"));
        assert_eq!(successor.is(201)["job"]["unique"]["waits_for"], running.id.as_str(), "round {round}");
    }
}

#[test]
fn a_successor_that_was_let_go_is_a_holder_like_any_other() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore"));
    client.ack(&running).is(200);
    let answer = client.enqueue(&sync("ignore"));
    assert_eq!(answer.is(200)["outcome"], "existing");
    assert_eq!(answer.id(), successor.id());
}

#[test]
fn a_successor_with_a_start_of_its_own_waits_for_that_as_well() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore").with("scheduled_at", FAR_FUTURE));
    assert_eq!(successor["job"]["state"], "pending");
    client.ack(&running).is(200);
    let job = client.job(&successor.id());
    assert_eq!((&job["state"], &job["scheduled_at"]), (&json!("scheduled"), &json!(FAR_FUTURE)));
    assert!(job["unique"]["waits_for"].is_null(), "{job}");
}

#[test]
fn with_debounce_a_successor_also_waits_out_its_wait() {
    let server = Server::start();
    let mut client = server.client();
    let both = json!({"keys": ["type"], "while_active": "queue_latest", "debounce": {"wait": "PT2S"}});
    let (running, successor) =
        queued(&mut client, &job("repo.sync").unique(both.clone()).payload(json!([1])));
    assert_eq!(successor["job"]["state"], "pending");
    let again = client.enqueue(&job("repo.sync").unique(both).payload(json!([2])));
    assert_eq!(again.is(200).id(), successor.id());
    assert_eq!(again["job"]["args"], json!([[1, 2]]), "debouncing joins arrays");
    client.ack(&running).is(200);
    assert_eq!(client.state(&successor.id()), "scheduled");
    let next = clock::eventually("the wait is over", SOON, || client.fetch("default", 1).pop());
    assert_eq!(next.id, successor.id());
}

#[test]
fn a_successor_can_be_called_off_and_another_takes_its_place() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore"));
    client.cancel(&successor.id()).is(200);
    let other = client.enqueue(&sync("ignore"));
    assert_eq!(other.is(201)["job"]["unique"]["waits_for"], running.id.as_str());
    client.ack(&running).is(200);
    assert_eq!(client.state(&successor.id()), "cancelled");
    assert_eq!(client.state(&other.id()), "available");
}

#[test]
fn an_operator_may_let_a_successor_go_beside_the_running_job() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore"));
    client.post(&format!("/ojs/v1/jobs/{}/activate", successor.id()), &json!({})).is(200);
    let job = client.job(&successor.id());
    assert_eq!(job["state"], "available");
    assert!(job["unique"]["waits_for"].is_null(), "{job}");
    let beside = client.fetch_one("default");
    assert_eq!(beside.id, successor.id());
    let newest = client.enqueue(&sync("ignore").args(json!([{"version": 9}])));
    assert_eq!(newest.is(201)["job"]["state"], "pending", "two run, and the next one waits");
    client.ack(&running).is(200);
    client.ack(&beside).is(200);
    assert_eq!(client.fetch_one("default").id, newest.id());
}

#[test]
fn a_successor_that_expires_makes_room_for_another() {
    let server = Server::start();
    let mut client = server.client();
    let (running, successor) = queued(&mut client, &sync("ignore").with("expires_at", "+PT0.2S"));
    clock::until("it expires", SOON, || client.state(&successor.id()) == "discarded");
    let other = client.enqueue(&sync("ignore"));
    assert_eq!(other.is(201)["outcome"], "created");
    client.ack(&running).is(200);
    assert_eq!(client.state(&other.id()), "available");
}
