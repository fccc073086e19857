//! `--store memory`: the same server without a disk.

use e2e::{Launch, job};
use serde_json::json;

#[test]
fn the_memory_store_answers_as_the_other_does() {
    let server = Launch::memory().start();
    let mut client = server.client();
    let id = client.create(&job("a.b").on_conflict("reject"));
    client.enqueue(&job("a.b").on_conflict("reject")).is_refusal(409, "duplicate");
    let answer = client.enqueue(&job("a.b").on_conflict("replace"));
    assert_eq!(answer.is(201)["replaced"], json!([id]));
    let delivery = client.fetch_one("default");
    assert_eq!(delivery.id, answer.id());
    client.ack(&delivery).is(200);
    assert_eq!(client.count("default", "completed"), 1);
}

#[test]
fn the_memory_store_forgets_and_says_so() {
    let mut server = Launch::memory().start();
    let id = server.client().create(&job("a.b"));
    server.crash_and_restart();
    server.client().get(&format!("/ojs/v1/jobs/{id}")).is_refusal(404, "not_found");
    assert!(server.log().contains("memory"), "the log does not warn: {}", server.log());
}

#[test]
fn a_folder_for_jobs_that_are_not_kept_is_refused() {
    let exit = Launch::run_program(&["serve", "--store", "memory", "--data", "d"]);
    assert!(!exit.status.success(), "{}", exit.output);
    for word in ["data is d", "memory", "--data"] {
        assert!(exit.output.contains(word), "no {word} in: {}", exit.output);
    }
}

#[test]
fn an_unknown_store_is_refused() {
    let exit = Launch::embedded().args(&["--store", "floppy"]).run();
    assert!(!exit.status.success());
    for word in ["floppy", "embedded", "memory"] {
        assert!(exit.output.contains(word), "no {word} in: {}", exit.output);
    }
}
