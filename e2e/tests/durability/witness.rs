//! A server under strace, and clients that write down what it promised them.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::clock::{self, SOON};
use e2e::trace::{Promise, Trace};
use e2e::{Client, Launch, Request, Server, job, together};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than any page that a store writes at once.
const BYTES_SHOWN: &str = "70000";
const CALLS: &str = "trace=network,read,readv,write,writev,pwrite64,pwritev,pwritev2,fsync,fdatasync,openat,\
                     ftruncate,rename,renameat,renameat2,unlink,unlinkat";
const CLIENTS: usize = 6;

/// A promise, and what must be true of jobs once it was given.
pub(crate) struct Vow {
    pub(crate) promise: Promise,
    /// Jobs and the states they must be in; without a state they must only exist.
    pub(crate) facts: Vec<(String, Option<&'static str>)>,
}

/// A server that has been watched to its end.
pub(crate) struct Recording {
    pub(crate) server: Server,
    pub(crate) trace: Trace,
    pub(crate) vows: Vec<Vow>,
}

impl Recording {
    /// Lets clients do so many rounds of everything, with so many bytes in each job.
    pub(crate) fn make(rounds: usize, pad: usize) -> Recording {
        crate::require_strace();
        let home = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let path: PathBuf = home.path().join("trace");
        let file = path.to_string_lossy().into_owned();
        // With -D the server is our child and strace its child, so that a kill reaches the server.
        let strace = ["strace", "-D", "-f", "-y", "-q", "-s", BYTES_SHOWN, "-e", CALLS, "-o", &file];
        let mut server = Server::start_in(home, Launch::embedded().under(&strace));
        let vows = together(CLIENTS, |number| {
            let mut witness = Witness { client: server.client(), number, vows: Vec::new() };
            for round in 0..rounds {
                witness.round(round, pad);
            }
            witness.vows
        });
        // In good order, so that no call is left unfinished and the record is complete.
        server.signal("TERM");
        assert!(server.wait(SOON).success());
        let trace = Trace::parse(&finished(&server, &path), &server.data().to_string_lossy());
        Recording { server, trace, vows: vows.into_iter().flatten().collect() }
    }
}

struct Witness {
    client: Client,
    number: usize,
    vows: Vec<Vow>,
}

impl Witness {
    /// Sends a request that must succeed; `marker` is what the store has to write for it.
    fn send(&mut self, request: Request, marker: Option<&str>) -> Value {
        let request_id = format!("witness-{}-{}-end", self.number, self.vows.len());
        let answer = self.client.send(&request.header("X-Request-Id", &request_id));
        assert!((200..300).contains(&answer.status), "{}", answer.body);
        let promise = Promise { request_id, marker: marker.map(str::to_owned) };
        self.vows.push(Vow { promise, facts: Vec::new() });
        answer.json
    }

    fn post(&mut self, path: &str, body: &Value, marker: Option<&str>) -> Value {
        self.send(Request::post(path, body.to_string()), marker)
    }

    /// The last promise means this.
    fn fact(&mut self, id: &Value, state: Option<&'static str>) {
        if let Some(vow) = self.vows.last_mut() {
            vow.facts.push((id.as_str().unwrap_or_default().to_owned(), state));
        }
    }

    /// One of each kind of write, each with a text of its own where it has one.
    fn round(&mut self, round: usize, pad: usize) {
        let name = format!("marker-{}-{round}", self.number);
        let queue = format!("queue-{}", self.number);
        let marked = |what: &str| format!("{name}-{what}-end");
        let job = |what: &str| job("traced").on(&queue).args(json!([marked(what), "x".repeat(pad)]));
        let created = self.post("/ojs/v1/jobs", &job("one").json(), Some(&marked("one")));
        self.fact(&created["job"]["id"], None);
        let batch = json!({"jobs": [job("two").json(), job("three").json()]});
        let created = self.post("/ojs/v1/jobs/batch", &batch, Some(&marked("three")));
        self.fact(&created["jobs"][0]["id"], None);
        self.fact(&created["jobs"][1]["id"], None);
        let unique = job("four").unique(json!({"keys": ["type", "queue"], "on_conflict": "replace"}));
        let created = self.post("/ojs/v1/jobs", &unique.json(), Some(&marked("four")));
        self.fact(&created["job"]["id"], None);
        for replaced in created["replaced"].as_array().into_iter().flatten() {
            self.fact(replaced, Some("cancelled"));
        }
        self.work(&queue, &name);
    }

    /// Fetches the three jobs that wait longest; one is done, one fails, one is called off.
    fn work(&mut self, queue: &str, name: &str) {
        let fetch = json!({"queues": [queue], "count": 3, "worker_id": "witness"});
        let fetched = self.post("/ojs/v1/workers/fetch", &fetch, None);
        let ids: Vec<&Value> = (0..3).map(|number| &fetched["jobs"][number]["id"]).collect();
        // A length of its own: one that ends in the same millisecond as before leaves nothing to write.
        let beat = json!({"worker_id": "witness", "active_jobs": ids, "visibility_timeout": 600});
        self.post("/ojs/v1/workers/heartbeat", &beat, None);
        let done = format!("{name}-done-end");
        self.post("/ojs/v1/workers/ack", &json!({"job_id": ids[0], "result": done}), Some(&done));
        self.fact(ids[0], Some("completed"));
        let failed = format!("{name}-failed-end");
        let error = json!({"type": "E", "message": failed, "retryable": false});
        self.post("/ojs/v1/workers/nack", &json!({"job_id": ids[1], "error": error}), Some(&failed));
        self.fact(ids[1], Some("discarded"));
        let path = format!("/ojs/v1/jobs/{}", ids[2].as_str().unwrap_or_default());
        self.send(Request::new("DELETE", &path), None);
        self.fact(ids[2], Some("cancelled"));
    }
}

/// The trace, once strace has written the end of the server into it.
fn finished(server: &Server, path: &Path) -> String {
    let pid = server.pid().to_string();
    let ends = |line: &str| {
        line.split_once(' ').is_some_and(|(thread, rest)| thread == pid && rest.contains("+++ "))
    };
    clock::eventually("strace writes the end", SOON, || {
        let text = String::from_utf8_lossy(&fs::read(path).ok()?).into_owned();
        text.lines().rev().take(200).any(ends).then_some(text)
    })
}
