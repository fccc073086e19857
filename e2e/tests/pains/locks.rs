//! Classes 2 and 5: a key lives and dies with its job, and a job that has ended holds it only if asked.

use e2e::{Holder, Server, TERMINAL, job};
use serde_json::json;

#[test]
fn class_02_a_key_does_not_outlive_its_job() {
    let server = Server::start();
    let mut client = server.client();
    let once = job("once").unique(json!({"states": "all"}));
    let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let id = client.create(&once.clone().with("retry", retry));
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    client.enqueue(&once).is_refusal(409, "duplicate");
    client.delete(&format!("/ojs/v1/dead-letter/{id}")).is(200);
    client.create(&once);
}

#[test]
fn class_02_a_request_that_is_refused_leaves_no_key_behind() {
    let server = Server::start();
    let mut client = server.client();
    let (one, two) = (job("one").on_conflict("reject"), job("two").on_conflict("reject"));
    client.create(&two);
    client.batch(&[one.clone(), job("named").job_key("name"), two.clone()]).is_refusal(409, "duplicate");
    client.batch(&[one.clone(), job("Bad Type")]).is_refusal(400, "invalid_request");
    assert_eq!(client.held_keys("").is(200)["held"], 1);
    assert_eq!(client.explain(&one).is(200)["holders"], json!([]));
    client.create(&one);
    client.create(&job("named").job_key("name"));
}

#[test]
fn class_02_a_crash_leaves_no_key_without_its_job_and_no_job_without_its_key() {
    let mut server = Server::start();
    let mut client = server.client();
    let kept = client.create(&job("kept").on_conflict("reject"));
    let gone = client.create(&job("gone").on_conflict("reject"));
    client.cancel(&gone).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    let refused = client.enqueue(&job("kept").on_conflict("reject"));
    assert_eq!(refused.is_refusal(409, "duplicate")["error"]["details"]["existing_job_id"], kept.as_str());
    client.create(&job("gone").on_conflict("reject"));
}

#[test]
fn class_05_an_ended_job_holds_its_key_only_if_asked() {
    let server = Server::start();
    let mut client = server.client();
    for state in TERMINAL {
        let kind = format!("work.{state}");
        let holder = Holder::bring(&mut client, &job(&kind).on_conflict("reject"), state, state);
        let asked = client.enqueue(&job(&kind).unique(json!({"states": [state]})));
        let details = &asked.is_refusal(409, "duplicate")["error"]["details"];
        assert_eq!(
            (&details["existing_job_id"], &details["existing_job_state"]),
            (&json!(holder.id), &json!(state))
        );
        client.create(&job(&kind).on_conflict("reject"));
    }
}
