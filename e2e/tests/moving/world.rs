//! A server that has seen everything: jobs in all states, keys, ledgers, leases, pauses, remembered answers.

use e2e::{Answer, Client, Delivery, EVERY_STATE, Holder, Job, Request, job};
use serde_json::{Value, json};

/// What is there, and what has to be so wherever it is.
pub(crate) struct World {
    ids: Vec<String>,
    jobs: Vec<Value>,
    /// A lease that another delivery has made void.
    lost: Delivery,
    /// A lease that holds.
    held: Delivery,
    unique: (Job, String),
    resent: (Job, Answer),
}

fn unique() -> Job {
    job("mail.send")
        .on("mail")
        .args(json!([{"to": 42}]))
        .unique(json!({"keys": ["type", "args"], "on_conflict": "ignore"}))
}

impl World {
    #[track_caller]
    pub(crate) fn make(client: &mut Client) -> World {
        let mut ids = Vec::new();
        for state in EVERY_STATE {
            let holder = Holder::bring(
                client,
                &job("work.do").args(json!([state, 1.50])),
                &format!("in-{state}"),
                state,
            );
            ids.push(holder.id);
        }
        let holder = client.create(&unique());
        for _ in 0..12 {
            client.enqueue(&unique()).is(200);
        }
        let lines = Request::post(
            "/ojs/v1/jobs",
            "{\"type\":\"work.lines\",\n\"args\":[1.0,\n  {\"é\":\"\\u00e9\"}]}",
        );
        ids.push(client.send(&lines).is(201).id());
        ids.extend([client.create(&job("named.do").on("named").keyed("nightly", "replace")), holder.clone()]);
        let latest =
            job("latest.do").on("latest").unique(json!({"keys": ["type"], "while_active": "queue_latest"}));
        ids.push(client.create(&latest));
        let running = client.fetch_one("latest");
        ids.push(client.enqueue(&latest).is(201).id());
        assert_eq!(client.job(&running.id)["state"], "active");
        ids.extend((0..5).map(|n| client.create(&job("line.do").on("line").with("priority", n % 2))));
        ids.push(client.create(&job("fenced.do").on("fenced")));
        let lost = client.fetch_one("fenced");
        client.hand_back(&lost).is(200);
        let held = client.fetch_one("fenced");
        let once = job("once.do").on("once");
        let answer = client.enqueue_once("resend-1", &once);
        ids.push(answer.is(201).id());
        client.post("/ojs/v1/queues/paused-one/pause", &json!({})).is(200);
        ids.push(client.create(&job("paused.do").on("paused-one")));
        let jobs = ids.iter().map(|id| client.job(id)).collect();
        World { ids, jobs, lost, held, unique: (unique(), holder), resent: (once, answer) }
    }

    /// Every job is shown as it was.
    #[track_caller]
    pub(crate) fn is_there(&self, client: &mut Client) {
        for (id, job) in self.ids.iter().zip(&self.jobs) {
            assert_eq!(client.job(id), *job);
        }
    }

    /// What happens next is what would have happened where they came from. Changes things.
    #[track_caller]
    pub(crate) fn goes_on(&self, client: &mut Client) {
        let (job, holder) = &self.unique;
        let duplicate = client.enqueue(job);
        assert_eq!(duplicate.is(200)["outcome"], "existing");
        assert_eq!(duplicate.id(), *holder);
        assert_eq!(
            client.job(holder)["unique"]["duplicates"]["count"].as_u64(),
            self.turned_away().map(|count| count + 1)
        );
        client.ack(&self.lost).is_refusal(409, "lease_lost");
        client.ack(&self.held).is(200);
        let (job, answer) = &self.resent;
        let again = client.enqueue_once("resend-1", job);
        assert_eq!((again.status, &again.body), (answer.status, &answer.body));
        assert!(client.fetch("paused-one", 1).is_empty(), "a paused queue gives nothing");
        let line: Vec<String> = client.fetch("line", 9).into_iter().map(|delivery| delivery.id).collect();
        let first = self.ids.iter().position(|id| *id == line[2]).expect("a job of the line");
        let at = |n: usize| self.ids[first + n].clone();
        assert_eq!(line, [at(1), at(3), at(0), at(2), at(4)], "higher priority first, then in their order");
    }

    fn turned_away(&self) -> Option<u64> {
        let holder = self.jobs.iter().find(|job| job["id"] == self.unique.1.as_str())?;
        holder["unique"]["duplicates"]["count"].as_u64()
    }
}
