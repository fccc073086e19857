//! Thousands of random jobs through both doors, with workers, operators and time in between.

use std::collections::BTreeMap;

use hapax_core::{Event, JobId};
use serde_json::Value;

use crate::draw::{self, Draw};
use crate::rig::Rig;
use crate::said::Said;

/// Steps of one run.
const STEPS: u64 = 1200;

struct Walk {
    rig: Rig,
    draw: Draw,
    known: Vec<JobId>,
    leases: Vec<(JobId, String)>,
    made: u64,
    /// How often each outcome or refusal came.
    tally: BTreeMap<String, usize>,
}

impl Walk {
    fn step(&mut self) {
        let passed = [0, 1, 400, 3_000, 20_000][self.draw.below(5)];
        self.rig.pass(passed);
        match self.draw.below(100) {
            0..=49 => self.enqueue(),
            50..=55 => self.enqueue_all(),
            56..=69 => self.claim(),
            70..=78 => self.complete(),
            79..=87 => self.fail(),
            88..=93 => self.rig.advance(),
            94 | 95 => drop(self.rig.remove(self.draw.of(&["j1", "j2", "j3"]))),
            96 | 97 => self.touch(&Event::Cancel),
            98 => self.touch(&Event::Activate),
            _ => self.long_pause(),
        }
    }

    fn job(&mut self) -> Value {
        let job = draw::job(&mut self.draw);
        let mut job = draw::nested(&mut self.draw, job);
        self.made += 1;
        let id = self.draw.id(self.rig.now().millis(), self.made);
        job.insert("id".to_owned(), Value::String(id.clone()));
        if self.draw.percent(25) {
            draw::damage(&mut self.draw, &mut job);
        }
        // Without an id each door would choose its own.
        if job.get("id").is_none_or(Value::is_null) {
            job.insert("id".to_owned(), Value::String(id.clone()));
        }
        if self.draw.percent(2)
            && let Some(taken) = self.any()
        {
            job.insert("id".to_owned(), Value::String(taken.to_string()));
        }
        self.known.push(id.parse().unwrap());
        Value::Object(job)
    }

    fn any(&mut self) -> Option<JobId> {
        // The newest are the most lively.
        let recent = &self.known[self.known.len().saturating_sub(40)..];
        if recent.is_empty() { None } else { Some(recent[self.draw.below(recent.len())]) }
    }

    fn enqueue(&mut self) {
        let mut job = self.job();
        let by_server = self.draw.percent(30);
        // Only servers take limits, but what SQL does to such jobs keeps their order.
        if by_server && self.draw.percent(60) {
            job["rate_limit"] = draw::rate_limit(&mut self.draw);
        }
        let job = job.to_string();
        let said = if by_server { self.rig.enqueue_by_server(&job) } else { self.rig.enqueue(&job) };
        self.count(&said);
        if let Some(id) = said.at("/job/id").and_then(Value::as_str) {
            self.rig.compare(id.parse().unwrap());
        }
    }

    fn enqueue_all(&mut self) {
        let count = 1 + self.draw.below(4);
        let jobs: Vec<Value> = (0..count).map(|_| self.job()).collect();
        let said = self.rig.enqueue(&Value::Array(jobs).to_string());
        self.count(&said);
    }

    fn count(&mut self, said: &Said) {
        let outcomes: Vec<String> = match said {
            Said::Done(body) => {
                let many = body["outcomes"].as_array().into_iter().flatten().chain([body]);
                many.filter_map(|body| body["outcome"].as_str()).map(str::to_owned).collect()
            }
            Said::Refused(code, ..) => vec![code.clone()],
        };
        for outcome in outcomes {
            *self.tally.entry(outcome).or_default() += 1;
        }
    }

    fn claim(&mut self) {
        let queue = self.draw.of(&["default", "q1", "q2"]);
        self.leases.extend(self.rig.claim(queue));
    }

    /// A lease that may have been lost by now.
    fn lease(&mut self) -> Option<(JobId, String)> {
        if self.leases.is_empty() {
            return None;
        }
        let at = self.draw.below(self.leases.len());
        let (id, lease) =
            if self.draw.percent(80) { self.leases.swap_remove(at) } else { self.leases[at].clone() };
        Some((id, if self.draw.percent(5) { "no lease".to_owned() } else { lease }))
    }

    fn complete(&mut self) {
        let Some((id, lease)) = self.lease() else { return };
        let result = ["null", "{\"ok\": 1.50}", "[]"][self.draw.below(3)];
        drop(self.rig.complete(id, &lease, (result != "[]").then_some(result)));
        self.rig.compare(id);
    }

    fn fail(&mut self) {
        let Some((id, lease)) = self.lease() else { return };
        let errors = [
            "null",
            "\"broken\"",
            r#"{"message": "no", "code": "Fatal"}"#,
            r#"{"type": "Auth.Denied", "message": {"a": 1}, "details": {"error_class": "E", "stack": "a\nb\r\n"}}"#,
            r#"{"code": "DEAD_LETTER"}"#,
            r#"{"code": "DISCARD", "retryable": true, "backtrace": ["x", 1, "y"]}"#,
            r#"{"retryable": false}"#,
            r#"{"code": 5}"#,
            "[]",
        ];
        // Most let the job be tried again.
        let error =
            errors[if self.draw.percent(50) { self.draw.below(2) } else { self.draw.below(errors.len()) }];
        let requeue = self.draw.percent(15);
        drop(self.rig.fail(id, &lease, Some(error), requeue));
        self.rig.compare(id);
    }

    fn touch(&mut self, event: &Event) {
        if let Some(id) = self.any() {
            self.rig.step(id, event);
            self.rig.compare(id);
        }
    }

    /// Long enough for jobs to be forgotten.
    fn long_pause(&mut self) {
        self.rig.pass(if self.draw.percent(30) { 8 * 86_400_000 } else { 3_600_000 });
        self.rig.advance();
    }
}

fn walk(seed: u64) {
    let (rig, draw) = (Rig::new(), Draw::new(seed));
    let (known, leases, tally) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut walk = Walk { rig, draw, known, leases, made: 0, tally };
    for step in 0..STEPS {
        walk.step();
        if step % 100 == 99 {
            walk.rig.compare_all(&walk.known);
        }
    }
    for expected in ["created", "existing", "updated", "replaced", "duplicate", "invalid_request"] {
        assert!(walk.tally[expected] >= 20, "{expected} is rare with seed {seed}: {:?}", walk.tally);
    }
}

#[test]
fn random_jobs_mean_the_same_through_both_doors() {
    walk(1);
}

#[test]
fn other_random_jobs_mean_the_same_through_both_doors() {
    walk(2);
}
