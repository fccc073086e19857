//! The order of system calls: written, synced, and only then answered.

use std::fs;

use e2e::clock::{self, SOON};
use e2e::trace::{Promise, Trace};
use e2e::{Client, Delivery, Launch, Request, Server, job, together};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::require_strace;

const CLIENTS: usize = 6;
const ROUNDS: usize = 8;
/// Longer than any page that a store writes at once.
const BYTES_SHOWN: &str = "70000";
const CALLS: &str = "network,read,readv,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync";

/// A client that notes what it was promised.
struct Witness {
    client: Client,
    number: usize,
    promises: Vec<Promise>,
}

impl Witness {
    /// Sends a request that must succeed; `marker` is what the store has to write for it.
    fn send(&mut self, request: Request, marker: Option<&str>) -> Value {
        let request_id = format!("witness-{}-{}-end", self.number, self.promises.len());
        let answer = self.client.send(&request.header("X-Request-Id", &request_id));
        assert!((200..300).contains(&answer.status), "{}", answer.body);
        self.promises.push(Promise { request_id, marker: marker.map(str::to_owned) });
        answer.json
    }

    fn post(&mut self, path: &str, body: &Value, marker: Option<&str>) -> Value {
        self.send(Request::post(path, body.to_string()), marker)
    }

    /// One of each kind of write, each with a text of its own where it has one.
    fn round(&mut self, round: usize) {
        let name = format!("marker-{}-{round}", self.number);
        let queue = format!("queue-{}", self.number);
        let marked = |what: &str| format!("{name}-{what}-end");
        let job = |what: &str| job("traced").on(&queue).args(json!([marked(what)]));
        self.post("/ojs/v1/jobs", &job("one").json(), Some(&marked("one")));
        let batch = json!({"jobs": [job("two").json(), job("three").json()]});
        self.post("/ojs/v1/jobs/batch", &batch, Some(&marked("three")));
        let unique = job("four").unique(json!({"keys": ["type", "queue"], "on_conflict": "replace"}));
        self.post("/ojs/v1/jobs", &unique.json(), Some(&marked("four")));

        let fetch = json!({"queues": [queue], "count": 3, "worker_id": "witness"});
        let fetched = self.post("/ojs/v1/workers/fetch", &fetch, None);
        let ids: Vec<&str> =
            fetched["jobs"].as_array().into_iter().flatten().filter_map(|job| job["id"].as_str()).collect();
        assert_eq!(ids.len(), 3);
        let beat = json!({"worker_id": "witness", "active_jobs": ids});
        self.post("/ojs/v1/workers/heartbeat", &beat, None);
        let ack = json!({"job_id": ids[0], "result": marked("done")});
        self.post("/ojs/v1/workers/ack", &ack, Some(&marked("done")));
        let error = json!({"type": "E", "message": marked("failed")});
        self.post(
            "/ojs/v1/workers/nack",
            &json!({"job_id": ids[1], "error": error}),
            Some(&marked("failed")),
        );
        self.send(Request::new("DELETE", &format!("/ojs/v1/jobs/{}", ids[2])), None);
    }
}

/// The server under strace, which leaves it in the child's place (`-D`).
fn traced(trace: &str) -> Launch {
    let calls = format!("trace={CALLS}");
    Launch::default().under(&["strace", "-D", "-f", "-y", "-q", "-s", BYTES_SHOWN, "-e", &calls, "-o", trace])
}

/// The trace, once strace has written the end of the server into it.
fn finished(server: &Server, path: &std::path::Path) -> String {
    let end = format!("{} +++ ", server.pid());
    clock::eventually("strace writes the end", SOON, || {
        let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
        text.lines().rev().take(200).any(|line| line.starts_with(&end)).then_some(text)
    })
}

#[test]
fn no_success_is_sent_before_its_data_is_on_disk() {
    require_strace();
    let home = TempDir::new().expect("a folder");
    let path = home.path().join("trace");
    let mut server = Server::start_in(home, traced(&path.to_string_lossy()));
    let promises = together(CLIENTS, |number| {
        let mut witness = Witness { client: server.client(), number, promises: Vec::new() };
        (0..ROUNDS).for_each(|round| witness.round(round));
        witness.promises
    });
    let promises = promises.concat();
    server.kill();

    let text = finished(&server, &path);
    let trace = Trace::parse(&text, &server.data().to_string_lossy());
    let broken: Vec<String> = promises.iter().filter_map(|promise| trace.judge(promise).err()).collect();
    assert!(broken.is_empty(), "{} of {} promises broken: {broken:#?}", broken.len(), promises.len());
    let syncs = trace.count(&["fsync", "fdatasync"]);
    eprintln!("{} promises kept by {syncs} syncs", promises.len());
    assert!(syncs > 0);

    server.start_again_as(Launch::default());
    let delivered: Vec<Delivery> = server.client().fetch("queue-0", 100);
    assert!(!delivered.is_empty(), "the store is readable after the trace");
}
