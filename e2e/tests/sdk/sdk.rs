//! A client that sends what an SDK sends, byte for byte where it matters, to a server of its own.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use e2e::{Answer, Client, Launch, Listener, Request, Server, clock};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The media type of all four.
const MEDIA: &str = "application/openjobspec+json";
/// All four can send one.
const KEY: &str = "an-api-key-of-the-test";

/// A server that answers nobody without the key.
#[track_caller]
fn guarded() -> Server {
    let home = TempDir::new().unwrap_or_else(|error| panic!("no folder: {error}"));
    let file = home.path().join("keys");
    let written = std::fs::write(&file, format!("test:{KEY}\n"))
        .and_then(|()| std::fs::set_permissions(&file, Permissions::from_mode(0o600)));
    written.unwrap_or_else(|error| panic!("no keys: {error}"));
    let launch = Launch::default().args(&["--api-key-file", &file.to_string_lossy()]).key(KEY);
    Server::start_in(home, launch)
}

/// How an SDK calls.
#[derive(Debug)]
pub(crate) struct Sdk {
    client: Client,
    server: Server,
    version: &'static str,
    types_empty_bodies: bool,
}

impl Sdk {
    /// JavaScript, Python and Rust name the type of the body also where there is none.
    #[track_caller]
    pub(crate) fn of_three() -> Sdk {
        Sdk::start("1.0", true)
    }

    /// Go names another version, and no type where there is no body.
    #[track_caller]
    pub(crate) fn go() -> Sdk {
        Sdk::start("1.0.0-rc.1", false)
    }

    #[track_caller]
    fn start(version: &'static str, types_empty_bodies: bool) -> Sdk {
        let server = guarded();
        Sdk { client: server.client(), server, version, types_empty_bodies }
    }

    /// POST with a body.
    #[track_caller]
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send(Request::new("POST", path).header("Content-Type", MEDIA).body(body.to_string()))
    }

    /// PUT, which no SDK sends: what an operator does for one.
    #[track_caller]
    pub(crate) fn put(&mut self, path: &str, body: &Value) -> Answer {
        self.send(Request::new("PUT", path).header("Content-Type", MEDIA).body(body.to_string()))
    }

    /// POST without a body.
    #[track_caller]
    pub(crate) fn post_nothing(&mut self, path: &str) -> Answer {
        self.send_empty("POST", path)
    }

    /// GET.
    #[track_caller]
    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send_empty("GET", path)
    }

    /// DELETE.
    #[track_caller]
    pub(crate) fn delete(&mut self, path: &str) -> Answer {
        self.send_empty("DELETE", path)
    }

    /// Enqueues a job that must be created, and returns its id.
    #[track_caller]
    pub(crate) fn create(&mut self, body: &Value) -> String {
        self.post("/ojs/v1/jobs", body).is(201).id()
    }

    /// Acknowledges a job.
    #[track_caller]
    pub(crate) fn ack(&mut self, id: &str, result: &Value) -> Answer {
        self.post("/ojs/v1/workers/ack", &json!({"job_id": id, "result": result}))
    }

    /// The next job of a queue for a worker that asks with these members, once there is one.
    #[track_caller]
    pub(crate) fn fetch(&mut self, body: &Value) -> Value {
        clock::eventually("a job", clock::SOON, || {
            let answer = self.post("/ojs/v1/workers/fetch", body);
            answer.is(200)["jobs"].get(0).cloned()
        })
    }

    /// Listens to a channel as it is written in the address. Here no SDK names a version.
    #[track_caller]
    pub(crate) fn listen(&self, channel: &str) -> Listener {
        let request = Request::new("GET", &format!("/ojs/v1/events/stream?channel={channel}"))
            .header("Accept", "text/event-stream")
            .header("Cache-Control", "no-cache")
            .header("Authorization", &format!("Bearer {KEY}"));
        let listener = Listener::send(self.server.address(), &request);
        assert_eq!(listener.status, 200, "{}", listener.head);
        listener
    }

    /// Reports a failure.
    #[track_caller]
    pub(crate) fn nack(&mut self, id: &str, error: &Value) -> Answer {
        self.post("/ojs/v1/workers/nack", &json!({"job_id": id, "error": error}))
    }

    #[track_caller]
    fn send_empty(&mut self, method: &str, path: &str) -> Answer {
        let request = Request::new(method, path);
        self.send(if self.types_empty_bodies { request.header("Content-Type", MEDIA) } else { request })
    }

    #[track_caller]
    fn send(&mut self, request: Request) -> Answer {
        let answer = self.client.send(&request.header("Accept", MEDIA).header("OJS-Version", self.version));
        // Python takes a body for JSON only if it finds this word in the header.
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.starts_with(MEDIA) && kind.contains("application/json"), "{kind}");
        answer
    }
}
