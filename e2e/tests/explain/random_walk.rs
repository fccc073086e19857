//! Whatever happened to the holders of a key before, explain says what the enqueue that follows does.

use std::collections::BTreeSet;

use e2e::{Client, Delivery, FAR_FUTURE, Job, Launch, Random, job};
use serde_json::json;

use crate::comparison::agrees;

const STEPS: usize = 700;

/// States that a policy may ask about.
const STATES: [&str; 6] = ["all", "incomplete", "scheduled", "successful", "available", "completed"];

/// What has become of the jobs so far.
#[derive(Default)]
struct Walk {
    ids: Vec<String>,
    running: Vec<Delivery>,
}

/// A job for one of two keys, by any strategy that asks about any states. Nothing in it depends on the time.
fn any(random: &mut Random) -> Job {
    let key = format!("key-{}", random.below(2));
    let states = match *random.pick(&STATES) {
        state @ ("available" | "completed") => json!([state]),
        group => json!(group),
    };
    let policy = match random.below(12) {
        0 => json!({"on_conflict": "reject", "states": states}),
        1 => json!({"on_conflict": "ignore", "states": states}),
        2 => json!({"on_conflict": "replace", "states": states}),
        3 => json!({"on_conflict": "replace_except_schedule", "states": states}),
        4 => json!({"replace": ["args", "priority"], "states": states}),
        5 => json!({"replace": {"available": ["args"], "active": ["meta"]}, "states": states}),
        6 => json!({"debounce": {"wait": "PT1H"}}),
        7 => json!({"while_active": "queue_latest", "on_conflict": "ignore"}),
        8 => json!({"while_active": "queue_latest", "on_conflict": "replace", "states": "all"}),
        9 => return with_args(random).keyed(&key, "replace"),
        10 => return with_args(random).keyed(&key, "preserve_run_at"),
        _ => return with_args(random).keyed(&key, "unsafe_dedupe"),
    };
    let mut policy = policy;
    policy["key"] = json!(key);
    let (is_debounced, is_queued) = (policy["debounce"].is_object(), policy["while_active"].is_string());
    let job = with_args(random).unique(policy);
    match random.below(4) {
        // One that is to start at once would end the pause of a failed holder.
        _ if is_queued => job.with("scheduled_at", FAR_FUTURE),
        0 if !is_debounced => job.with("scheduled_at", FAR_FUTURE),
        _ => job,
    }
}

fn with_args(random: &mut Random) -> Job {
    let payload = [json!([random.below(9)]), json!({"n": random.below(9)})];
    job("walk").payload(random.pick(&payload).clone()).retried(3_600_000, 3)
}

impl Walk {
    /// Something happens to one of the jobs.
    fn step(&mut self, random: &mut Random, client: &mut Client) {
        match random.below(6) {
            0 | 1 => self.running.extend(client.fetch("default", 1)),
            2 if !self.running.is_empty() => {
                let delivery = self.running.swap_remove(random.below(self.running.len()));
                // Somebody may have replaced it.
                let answer = match random.below(3) {
                    0 => client.ack(&delivery),
                    1 => client.nack(&delivery),
                    _ => client.give_up(&delivery),
                };
                assert!(matches!(answer.status, 200 | 409), "{}", answer.body);
            }
            3 if !self.ids.is_empty() => {
                let id = random.pick(&self.ids).clone();
                let answer = client.post(&format!("/ojs/v1/jobs/{id}/activate"), &json!({}));
                assert!(matches!(answer.status, 200 | 409), "{}", answer.body);
            }
            4 if !self.ids.is_empty() && random.below(3) == 0 => {
                let id = random.pick(&self.ids).clone();
                assert!(matches!(client.cancel(&id).status, 200 | 409));
            }
            _ => {}
        }
    }
}

#[test]
fn whatever_happened_before_the_enqueue_does_what_was_explained() {
    let mut random = Random::seeded();
    for launch in [Launch::default(), Launch::memory()] {
        let server = launch.start();
        let mut client = server.client();
        let (mut walk, mut seen) = (Walk::default(), BTreeSet::new());
        for number in 0..STEPS {
            walk.step(&mut random, &mut client);
            let job = any(&mut random);
            let told = client.explain(&job);
            let counting = told.is(200).list("/holders").iter().any(|holder| holder["counts"] == true);
            assert_eq!(told["free"]["now"], !counting, "step {number}: {}", told.body);
            let done = client.enqueue(&job);
            agrees(&told, &done, &format!("step {number}: {}", job.text()));
            seen.insert(told.text("/outcome").to_owned());
            walk.ids.extend(done["job"]["id"].as_str().map(str::to_owned));
        }
        assert_eq!(seen.len(), 5, "only {seen:?} were seen");
    }
}
