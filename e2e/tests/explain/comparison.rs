//! What was told beside what was done.

use e2e::Answer;
use serde_json::Value;

/// The outcome of an enqueue in the words of explain.
fn outcome(answer: &Answer) -> &str {
    match answer.status {
        409 => "rejected",
        _ => answer["outcome"].as_str().unwrap_or_default(),
    }
}

/// Panics unless an explanation and the enqueue that followed it say the same.
#[track_caller]
pub(crate) fn agrees(told: &Answer, done: &Answer, what: &str) {
    let shown = format!("{what}\ntold {}\ndone {}", told.body, done.body);
    assert_eq!(told["outcome"], outcome(done), "{shown}");
    // A start that counts from now is another one a millisecond later.
    let moves = told["rule"]["name"] == "debounce";
    for list in ["replaced", "updated"] {
        let items = |answer: &Answer| {
            let mut items = answer[list].as_array().cloned().unwrap_or_default();
            items.retain(|item| !moves || item != "scheduled_at");
            items
        };
        assert_eq!(items(told), items(done), "{list}: {shown}");
    }
    let job = &done["job"];
    // A refusal shows no job, and so not what that waits for.
    if !job.is_null() {
        // What an answering holder waits for is its own affair.
        if told["outcome"] == "created" || told["outcome"] == "updated" {
            assert_eq!(told["waits_for"], job["unique"]["waits_for"], "{shown}");
        }
    }
    let answering = match outcome(done) {
        "rejected" => &done["error"]["details"]["existing_job_id"],
        "existing" | "updated" => &job["id"],
        _ => &Value::Null,
    };
    assert_eq!(told["job_id"], *answering, "{shown}");
    let key = if done.status == 409 {
        &done["error"]["details"]["uniqueness_key"]
    } else {
        &job["unique"]["uniqueness_key"]
    };
    assert_eq!(told["key"], *key, "{shown}");
}
