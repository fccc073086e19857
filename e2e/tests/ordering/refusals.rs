//! What an ordering key does not go with.

use e2e::{Server, job};
use serde_json::json;

use crate::ordered;

#[test]
fn keys_of_the_wrong_form_and_company_are_refused() {
    let server = Server::start();
    let mut client = server.client();
    for key in [json!(""), json!(7), json!("k".repeat(257)), json!("a\nb"), json!("a\u{0}")] {
        let answer = client.enqueue(&job("step").with("ordering_key", key));
        assert!(
            answer.is_refusal(400, "invalid_request").message().contains("ordering_key"),
            "{}",
            answer.body
        );
    }
    for beside in [json!({"pending": true}), json!({"unique": {"while_active": "queue_latest"}})] {
        let answer = client.enqueue(&ordered("a").with_all(&beside));
        assert!(
            answer.is_refusal(400, "invalid_request").message().contains("ordering_key"),
            "{}",
            answer.body
        );
    }
    let workflow = json!({"type": "chain", "steps": [ordered("a").json()]});
    let answer = client.post("/ojs/v1/workflows", &workflow);
    assert!(answer.is_error(400).message().contains("ordering_key"), "{}", answer.body);
}

#[test]
fn nobody_is_let_go_or_moved_before_its_turn() {
    let server = Server::start();
    let mut client = server.client();
    let first = client.create(&ordered("a"));
    let second = client.create(&ordered("a").job_key("named"));
    let answer = client.post(&format!("/ojs/v1/jobs/{second}/activate"), &json!({}));
    answer.is_refusal(409, "conflict");
    assert_eq!(answer["error"]["details"]["waits_for"], first.as_str());
    for other in [
        ordered("b").job_key("named"),
        ordered("a").on("other").job_key("named"),
        job("step").job_key("named"),
    ] {
        client.enqueue(&other).is_refusal(409, "conflict");
    }
    client.enqueue(&ordered("a").job_key("named").args(json!([2]))).is(200);
    assert_eq!(client.job(&second)["waits_for"], first.as_str());
}

#[test]
fn the_longest_key_is_kept_as_it_was_sent() {
    let server = Server::start();
    let mut client = server.client();
    let key = format!("{}\"é/", "k".repeat(252));
    assert_eq!(key.len(), 256);
    let id = client.create(&ordered(&key));
    assert_eq!(client.job(&id)["ordering_key"], key);
}
