//! A start that is asked for again under the same `Idempotency-Key`.

use e2e::{Request, Server, together};
use serde_json::{Value, json};

use crate::{finish, nothing, step};

fn request(workflow: &Value) -> Request {
    Request::post("/ojs/v1/workflows", workflow.to_string()).header("Idempotency-Key", "order-1")
}

#[test]
fn a_start_that_is_sent_again_has_the_same_answer_and_no_more_jobs() {
    let mut server = Server::start();
    let mut client = server.client();
    let chain = json!({"type": "chain", "steps": [step("a"), step("b")]});
    let first = client.send(&request(&chain));
    finish(&mut client, "a");
    server.crash_and_restart();
    let mut client = server.client();
    let again = client.send(&request(&chain));
    assert_eq!((again.status, &again.body), (201, &first.body));
    nothing(&mut client, &["a"]);
    assert_eq!(client.get("/ojs/v1/workflows").is(200).list("/workflows").len(), 1);
    let other = json!({"type": "chain", "steps": [step("c")]});
    let refused = client.send(&request(&other));
    assert!((400..500).contains(&refused.status), "{}", refused.body);
    nothing(&mut client, &["c"]);
}

#[test]
fn of_many_at_once_one_starts() {
    let server = Server::start();
    let chain = json!({"type": "chain", "steps": [step("a"), step("b")]});
    let answers = together(10, |_| server.client().send(&request(&chain)));
    let ids: Vec<&str> = answers.iter().map(|answer| answer.is(201).text("/workflow/id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(server.client().get("/ojs/v1/workflows").is(200).list("/workflows").len(), 1);
    assert_eq!(server.client().fetch("a", 9).len(), 1);
}
