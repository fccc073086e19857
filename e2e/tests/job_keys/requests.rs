//! Names beside everything else that a request may have.

use e2e::{Client, Server, job};
use serde_json::{Value, json};

use crate::digest;

#[track_caller]
fn is_refused(client: &mut Client, attributes: &[(&str, Value)], word: &str) {
    let job = attributes.iter().fold(job("a.b"), |job, (name, value)| job.with(name, value.clone()));
    let answer = client.enqueue(&job);
    assert_eq!(answer.status, 400, "{}: {}", job.text(), answer.body);
    answer.is_refusal(400, "invalid_request");
    assert!(answer.message().contains(word), "no {word} in {:?}", answer.message());
}

#[test]
fn a_job_has_a_name_or_a_policy_and_not_both() {
    let server = Server::start();
    let mut client = server.client();
    let name = || ("job_key", json!("name"));
    is_refused(&mut client, &[name(), ("unique", json!({}))], "job_key");
    is_refused(&mut client, &[name(), ("unique", json!({"keys": ["type"]}))], "unique");
    is_refused(&mut client, &[name(), ("options", json!({"unique": {"keys": ["type"]}}))], "job_key");
    is_refused(&mut client, &[("job_key_mode", json!("replace"))], "job_key");
    assert_eq!(client.count("default", "available"), 0);
    client.create(&digest("name", json!(1)).with("unique", json!(null)));
}

#[test]
fn an_unknown_mode_is_refused_with_the_nearest_one() {
    let server = Server::start();
    let mut client = server.client();
    for (mode, meant) in
        [("replaced", "replace"), ("preserve_runat", "preserve_run_at"), ("dedupe", "unsafe_dedupe")]
    {
        is_refused(&mut client, &[("job_key", json!("name")), ("job_key_mode", json!(mode))], meant);
    }
    assert_eq!(client.count("default", "available"), 0);
}

#[test]
fn name_and_mode_may_stand_under_options() {
    let server = Server::start();
    let mut client = server.client();
    let nested = |number: u32| {
        let options = json!({"job_key": "name", "job_key_mode": "preserve_run_at", "queue": "mail"});
        job("a.b").args(json!([[number]])).with("options", options)
    };
    let id = client.create(&nested(1));
    let answer = client.enqueue(&nested(2));
    assert_eq!(answer.is(200).id(), id);
    assert_eq!(answer["job"]["args"], json!([[1, 2]]));
    let both = [("job_key", json!("a")), ("options", json!({"job_key": "b"}))];
    is_refused(&mut client, &both, "job_key");
}

#[test]
fn a_repeated_request_is_answered_again_and_adds_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.enqueue_once("request-1", &digest("name", json!([1])));
    first.is(201);
    let second = client.enqueue_once("request-2", &digest("name", json!([2])));
    assert_eq!(second.is(200)["outcome"], "updated");
    for (key, item, before) in [("request-1", 1, &first), ("request-2", 2, &second)] {
        let again = client.enqueue_once(key, &digest("name", json!([item])));
        assert_eq!(again.body, before.body, "{key}");
        assert_eq!(again.status, before.status, "{key}");
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{key}");
    }
    let job = client.job(&first.id());
    assert_eq!(job["args"], json!([[1, 2]]));
    assert_eq!(job["unique"]["duplicates"]["count"], 1);
    client.enqueue_once("request-3", &digest("name", json!([2]))).is(200);
    assert_eq!(client.job(&first.id())["args"], json!([[1, 2, 2]]), "another request is another event");
}

#[test]
fn items_of_a_batch_see_the_names_of_the_items_before_them() {
    let server = Server::start();
    let mut client = server.client();
    let items = [1, 2, 3].map(|number| digest("name", json!([number])));
    let answer = client.batch(&[&items[..], &[job("other")]].concat());
    assert_eq!(answer.is(201)["count"], 4);
    let id = answer.text("/jobs/0/id").to_owned();
    assert_eq!((&answer["jobs"][1]["id"], &answer["jobs"][2]["id"]), (&json!(id), &json!(id)));
    assert_eq!(client.job(&id)["args"], json!([[1, 2, 3]]));
    assert_eq!(client.count("default", "available"), 2);
}

#[test]
fn items_of_a_bulk_request_see_the_names_of_the_items_before_them() {
    let server = Server::start();
    let mut client = server.client();
    let items = [1, 2, 3].map(|number| digest("name", json!([number])));
    let kept = digest("name", json!([4])).with("job_key_mode", "unsafe_dedupe");
    let answer = client.bulk(&[&items[..], &[kept]].concat());
    answer.is(201);
    let outcomes: Vec<&Value> = (0..4).map(|number| &answer["items"][number]["outcome"]).collect();
    assert_eq!(outcomes, ["created", "updated", "updated", "existing"], "{}", answer.body);
    let id = answer.text("/items/0/job/id").to_owned();
    for number in 1..4 {
        assert_eq!(answer["items"][number]["job"]["id"], id.as_str(), "item {number}");
    }
    assert_eq!(client.job(&id)["args"], json!([[1, 2, 3]]));
}

#[test]
fn a_batch_that_is_refused_leaves_the_holder_of_a_name_as_it_was() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&digest("name", json!([1])));
    let before = client.job(&id);
    client.create(&job("alone").on_conflict("reject"));
    let jobs = [digest("name", json!([2])), digest("new", json!([1])), job("alone").on_conflict("reject")];
    client.batch(&jobs).is_refusal(409, "duplicate");
    assert_eq!(client.job(&id), before);
    client.remove_job_key("new").is_refusal(404, "not_found");
}

#[test]
fn a_batch_that_is_refused_supersedes_nobody() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&digest("name", json!([1])).retried(1, 5));
    let running = client.fetch_one("default");
    let before = client.job(&running.id);
    client.create(&job("alone").on_conflict("reject"));
    client
        .batch(&[digest("name", json!([2])), job("alone").on_conflict("reject")])
        .is_refusal(409, "duplicate");
    assert_eq!(client.job(&running.id), before);
    assert_eq!(client.nack(&running).is(200)["state"], "retryable", "it keeps its retries");
}

#[test]
fn a_batch_supersedes_what_runs_once() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&digest("name", json!([1])));
    let running = client.fetch_one("default");
    let answer = client.batch(&[digest("name", json!([2])), digest("name", json!([3]))]);
    let id = answer.is(201).text("/jobs/0/id").to_owned();
    assert_eq!(answer["jobs"][1]["id"], id.as_str());
    assert_eq!(client.job(&id)["args"], json!([[2, 3]]));
    client.ack(&running).is(200);
}

#[test]
fn a_job_as_it_was_shown_can_be_sent_back() {
    let server = Server::start();
    let mut client = server.client();
    let new = digest("name", json!({"n": 1})).with("scheduled_at", "+PT1H").with("priority", 3);
    let id = client.create(&new);
    client.enqueue(&new).is(200);
    let mut shown = client.job(&id);
    assert!(shown["unique"]["duplicates"].is_object(), "{shown}");
    shown.as_object_mut().expect("a job").remove("id");
    let answer = client.post("/ojs/v1/jobs", &shown);
    assert_eq!(answer.is(200)["outcome"], "updated", "{}", answer.body);
    assert_eq!(answer.id(), id);
    assert_eq!(answer["updated"], json!([]), "it is the same");
    assert_eq!(answer["job"]["unique"]["duplicates"]["count"], 2);
}

#[test]
fn a_running_job_as_it_was_shown_after_it_lost_its_name_can_be_sent_back() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&digest("name", json!([1])));
    let running = client.fetch_one("default");
    client.remove_job_key("name").is(200);
    let mut shown = client.job(&running.id);
    assert!(shown["unique"]["released"].is_object(), "{shown}");
    shown.as_object_mut().expect("a job").remove("id");
    let answer = client.post("/ojs/v1/jobs", &shown);
    assert_eq!(answer.is(201)["outcome"], "created");
}
