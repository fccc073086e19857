//! Steps that name those for which they wait, as the Python and Rust SDKs send them.

use e2e::Server;
use serde_json::{Value, json};

use crate::{by, fail, finish, named, nothing, shown, start, states};

#[test]
fn a_step_waits_for_all_that_it_names() {
    let server = Server::start();
    let mut client = server.client();
    let steps = json!([named("d", &["b", "c"]), named("c", &["a"]), named("b", &["a"]), named("a", &[])]);
    let id = start(&mut client, &json!({"name": "diamond", "steps": steps}));
    assert_eq!(shown(&mut client, &id)["type"], "dag");
    nothing(&mut client, &["b", "c", "d"]);
    assert_eq!(finish(&mut client, "a"), Value::Null);
    assert_eq!(finish(&mut client, "b"), json!([by("a")]));
    nothing(&mut client, &["d"]);
    assert_eq!(finish(&mut client, "c"), json!([by("a")]));
    assert_eq!(finish(&mut client, "d"), json!([by("b"), by("c")]), "in the order in which it names them");
    assert_eq!(states(&mut client, &id)[0], "completed");
}

#[test]
fn what_waits_for_a_failure_is_called_off_and_the_rest_goes_on() {
    let server = Server::start();
    let mut client = server.client();
    let steps = json!([named("a", &[]), named("b", &["a"]), named("c", &[]), named("d", &["b", "c"])]);
    let id = start(&mut client, &json!({"steps": steps}));
    fail(&mut client, "a");
    assert_eq!(states(&mut client, &id), ["running", "failed", "cancelled", "pending", "cancelled"]);
    finish(&mut client, "c");
    assert_eq!(states(&mut client, &id)[0], "failed");
}

/// With underscores and a mark, as one SDK sends them, and with hyphens and none, as another does.
#[test]
fn callbacks_of_both_spellings_are_callbacks() {
    let server = Server::start();
    let mut client = server.client();
    let marked = |name: &str, queue: &str| {
        let mut step = named(name, &["a", "b"]);
        step["queue"] = json!(queue);
        step["options"] = json!({"callback_type": name});
        step
    };
    let plain = |name: &str| named(name, &["a", "b"]);
    let python = [
        marked("on_success", "on-success"),
        marked("on_failure", "on-failure"),
        marked("on_complete", "on-complete"),
    ];
    let rust = [plain("on-success"), plain("on-failure"), plain("on-complete")];
    for callbacks in [python, rust] {
        for is_ill in [false, true] {
            let steps: Vec<Value> =
                [named("a", &[]), named("b", &[])].into_iter().chain(callbacks.clone()).collect();
            let id = start(&mut client, &json!({"name": "batch", "steps": steps}));
            let begun = shown(&mut client, &id);
            assert_eq!((&begun["type"], &begun["jobs_total"]), (&json!("batch"), &json!(2)), "{begun}");
            finish(&mut client, "a");
            if is_ill {
                fail(&mut client, "b");
            } else {
                finish(&mut client, "b");
            }
            let (due, other) =
                if is_ill { ("on-failure", "on-success") } else { ("on-success", "on-failure") };
            let second = if is_ill { Value::Null } else { by("b") };
            assert_eq!(finish(&mut client, due), json!([by("a"), second]));
            finish(&mut client, "on-complete");
            nothing(&mut client, &[other]);
            assert_eq!(states(&mut client, &id)[0], "completed");
        }
    }
}

#[test]
fn forms_are_recognised() {
    let server = Server::start();
    let mut client = server.client();
    let chain = json!([named("a", &[]), named("b", &["a"]), named("c", &["b"])]);
    let group = json!([named("a", &[]), named("b", &[])]);
    for (steps, form) in [(chain, "chain"), (group, "group")] {
        let id = start(&mut client, &json!({"steps": steps}));
        assert_eq!(shown(&mut client, &id)["type"], form);
    }
}
