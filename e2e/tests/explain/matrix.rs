//! Explain says what the enqueue that follows does, for every strategy and every state of the holder, and changes
//! nothing.

use e2e::{Client, EVERY_STATE, Holder, Job, Launch, Server, job};
use serde_json::{Value, json};

use crate::comparison::agrees;

/// Not a state: available, and tried before.
const TRIED: &str = "tried";

/// A way to meet a holder: the name of the rule, and the incoming job of a type.
struct Way {
    rule: &'static str,
    attributes: Value,
}

fn way(rule: &'static str, attributes: Value) -> Way {
    Way { rule, attributes }
}

fn policy(rule: &'static str, mut policy: Value) -> Way {
    policy["keys"] = json!(["type"]);
    way(rule, json!({"unique": policy}))
}

fn named(mode: &str) -> Way {
    way("job_key", json!({"job_key_mode": mode}))
}

fn ways() -> Vec<Way> {
    vec![
        policy("reject", json!({"on_conflict": "reject", "states": "all"})),
        policy("reject", json!({})),
        policy("ignore", json!({"on_conflict": "ignore", "states": "all"})),
        policy("replace", json!({"on_conflict": "replace", "states": "all"})),
        policy("replace_except_schedule", json!({"on_conflict": "replace_except_schedule", "states": "all"})),
        policy("update", json!({"replace": ["args", "priority"], "states": "all"})),
        policy("update", json!({"replace": {"available": ["args"], "active": ["tags"]}, "states": "all"})),
        policy("debounce", json!({"debounce": {"wait": "PT1H", "max_wait": "P1D"}})),
        policy(
            "queue_latest",
            json!({"while_active": "queue_latest", "on_conflict": "ignore", "states": "all"}),
        ),
        policy("queue_latest", json!({"while_active": "queue_latest"})),
        policy("queue_latest", json!({"while_active": "queue_latest", "on_conflict": "replace"})),
        policy("ignore", json!({"on_conflict": "ignore", "states": "all", "period": "PT1H"})),
        named("replace"),
        named("preserve_run_at"),
        named("unsafe_dedupe"),
    ]
}

impl Way {
    /// What decides: `queue_latest` only while something runs.
    fn rule_beside(&self, state: &str) -> &str {
        if self.rule != "queue_latest" || state == "active" {
            return self.rule;
        }
        self.attributes["unique"]["on_conflict"].as_str().unwrap_or("reject")
    }

    /// The holder that the job will meet, which need not have the same policy.
    fn holder(&self, kind: &str) -> Job {
        match self.rule {
            "job_key" => job(kind).job_key(kind),
            _ => job(kind).on_conflict("reject"),
        }
    }

    fn incoming(&self, kind: &str) -> Job {
        let named = if self.rule == "job_key" { job(kind).job_key(kind) } else { job(kind) };
        named.with_all(&self.attributes).on("other").args(json!([["new"]])).with("priority", 9)
    }
}

/// Everything that an explanation could have changed.
#[track_caller]
fn world(client: &mut Client, holder: &str, queue: &str) -> Vec<Value> {
    let stats = client.get(&format!("/ojs/v1/queues/{queue}/stats")).json["stats"].clone();
    let counts = ["available", "scheduled", "active", "retryable", "completed", "discarded"];
    let counts = counts.map(|state| json!(client.count(queue, state)));
    let held = client.held_keys("limit=1").is(200)["held"].clone();
    [client.job(holder), held, stats].into_iter().chain(counts).collect()
}

#[test]
fn what_is_explained_is_what_happens_then() {
    for launch in [Launch::default(), Launch::memory()] {
        check(&launch.start());
    }
}

fn check(server: &Server) {
    let mut client = server.client();
    for (number, way) in ways().iter().enumerate() {
        for state in EVERY_STATE.iter().chain(&[TRIED]) {
            let (kind, queue) = (format!("work.n{number}.{state}"), format!("q{number}-{state}"));
            let what = format!("{} {} {state}", way.rule, way.attributes);
            let holder = match *state {
                TRIED => Holder::bring_tried(&mut client, &way.holder(&kind), &queue),
                state => Holder::bring(&mut client, &way.holder(&kind), &queue, state),
            };
            let before = world(&mut client, &holder.id, &queue);
            let told = client.explain(&way.incoming(&kind));
            assert_eq!(told.is(200)["unique"], true, "{what}");
            assert_eq!(told["rule"]["name"], way.rule_beside(state), "{what}: {}", told.body);
            assert!(
                told["rule"]["text"].as_str().is_some_and(|text| text.len() > 10),
                "{what}: {}",
                told.body
            );
            assert_eq!(world(&mut client, &holder.id, &queue), before, "{what}: it changed something");
            let again = client.explain(&way.incoming(&kind));
            assert_eq!(again["outcome"], told["outcome"], "{what}: it changed something");
            let done = client.enqueue(&way.incoming(&kind));
            agrees(&told, &done, &what);
        }
    }
}

#[test]
fn without_any_holder_everything_is_created() {
    let server = Server::start();
    let mut client = server.client();
    for (number, way) in ways().iter().enumerate() {
        let incoming = way.incoming(&format!("work.n{number}"));
        let told = client.explain(&incoming);
        assert_eq!(told.is(200)["holders"], json!([]));
        assert_eq!((&told["holders_live"], &told["holders_ended"]), (&json!(0), &json!(0)));
        assert_eq!(told["free"]["now"], true, "{}", told.body);
        assert_eq!(told["rule"]["name"], way.rule_beside("nothing"));
        let done = client.enqueue(&incoming);
        assert_eq!(done.is(201)["outcome"], "created");
        agrees(&told, &done, &way.attributes.to_string());
    }
}
