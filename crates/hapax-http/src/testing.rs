//! A server for tests: the real router over a store in memory, with a clock that stands still.

mod listener;
mod stalled;
mod stalling;

pub(crate) use listener::{Heard, Listener};
pub(crate) use stalled::StalledStore;
pub(crate) use stalling::StallingStore;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use hapax_broker::{Broker, Clock, Entropy};
use hapax_core::{Rules, Timestamp, json};
use hapax_store::{MemoryStore, Store};
use serde_json::Value;

use crate::front::Front;
use crate::shared::Shared;
use crate::{ApiKey, Config, Entrance, Limits, Metrics};

/// Where the clock starts: 2027-01-15T08:00:00Z.
const START: i64 = 1_800_000_000_000;

#[derive(Debug)]
struct FakeClock(AtomicI64);

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct FakeEntropy(AtomicU64);

impl Entropy for FakeEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let count = self.0.fetch_add(1, Ordering::Relaxed);
            *byte = u8::try_from(count.wrapping_mul(97) % 251).unwrap_or(0);
        }
    }
}

/// A server without a socket.
pub(crate) struct Rig {
    pub(crate) shared: Arc<Shared>,
    pub(crate) front: Front,
    clock: Arc<FakeClock>,
}

/// What a server for tests may differ in.
pub(crate) struct Setup {
    pub(crate) keys: Vec<ApiKey>,
    pub(crate) conformance: bool,
    pub(crate) entrance: Entrance,
    pub(crate) limits: Limits,
    pub(crate) store: Arc<dyn Store>,
}

impl Default for Setup {
    fn default() -> Self {
        let store = Arc::new(MemoryStore::new(Rules::default()));
        Setup {
            keys: Vec::new(),
            conformance: true,
            entrance: Entrance::default(),
            limits: Limits::default(),
            store,
        }
    }
}

/// An answer, read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {:?}", self.text))
    }

    /// The value at a pointer such as `/job/state`, which has to be a string.
    pub(crate) fn text_at(&self, pointer: &str) -> String {
        let found = self.json().pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        found.unwrap_or_else(|| panic!("no text at {pointer} in {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status, code and message of an error.
    pub(crate) fn error(&self) -> String {
        format!(
            "{} {}: {}",
            self.status.as_u16(),
            self.text_at("/error/code"),
            self.text_at("/error/message")
        )
    }

    /// For snapshots: the status, the headers that matter, and the body with one member of the top per line.
    pub(crate) fn shown(&self) -> String {
        let mut shown = format!("{}", self.status.as_u16());
        for name in [
            "location",
            "allow",
            "idempotency-replayed",
            "www-authenticate",
            "retry-after",
            "x-ojs-batch-size",
        ] {
            if let Some(value) = self.header(name) {
                let _infallible = write!(shown, " {name}={value}");
            }
        }
        let _infallible = write!(shown, "\n{}", self.text);
        shown
    }
}

impl Rig {
    pub(crate) fn new() -> Rig {
        Rig::with(Setup::default())
    }

    pub(crate) fn with(setup: Setup) -> Rig {
        let Setup { keys, conformance, entrance, limits, store } = setup;
        let rules = Rules::default();
        let clock = Arc::new(FakeClock(AtomicI64::new(START)));
        let metrics = Metrics::new();
        let entropy = Arc::new(FakeEntropy(AtomicU64::new(0)));
        let broker = Broker::new(store, Arc::clone(&clock) as _, entropy, rules, metrics.broker_observer());
        let config = Config {
            keys,
            conformance,
            entrance,
            limits,
            backend: "memory",
            durable: false,
            version: "0.0.0",
        };
        let shared = Arc::new(Shared::new(config, broker, metrics));
        let front = crate::router::router(&shared);
        Rig { shared, front, clock }
    }

    /// Lets time pass, with what becomes due in it.
    pub(crate) async fn pass(&self, span: Duration) {
        let millis = i64::try_from(span.as_millis()).unwrap();
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
        let chores = self.shared.broker.run_chores(std::future::pending());
        let ended = tokio::time::timeout(Duration::from_millis(20), chores).await;
        assert!(ended.is_err(), "the chores go on for ever");
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.front.answer(request).await;
        let (parts, body) = response.into_parts();
        let is_stream = parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let text = match Listener::new(body) {
            // As far as it comes at once: a stream has no end.
            mut stream if is_stream => stream.text_at_once().await,
            stream => stream.whole().await,
        };
        let answer = Answer { status: parts.status, headers: parts.headers, text };
        assert_eq!(answer.header("ojs-version"), Some("1.0"), "{answer:?}");
        assert!(answer.header("x-request-id").is_some(), "{answer:?}");
        let is_text = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/"));
        if !is_text && !answer.text.is_empty() {
            // The strict reader also finds a member that stands twice.
            let limits = json::Limits { depth_max: json::Limits::DEPTH_CEILING };
            assert_eq!(json::read(&answer.text, limits).err(), None, "{}", answer.text);
        }
        answer
    }

    /// Has events brought to those who listen.
    pub(crate) fn herald(&self) -> tokio::task::JoinHandle<()> {
        let broker = self.shared.broker.clone();
        tokio::spawn(async move { broker.run_herald(std::future::pending()).await })
    }

    /// A stream of events, past its opening.
    pub(crate) async fn listen(&self, path: &str) -> Listener {
        self.listen_after(path, "").await
    }

    /// The same for a client that comes back.
    pub(crate) async fn listen_after(&self, path: &str, last_event_id: &str) -> Listener {
        let request = request("GET", path, "").header("last-event-id", last_event_id);
        let response = self.front.answer(request.body(Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream", "{path}");
        let mut listener = Listener::new(response.into_body());
        let opening = listener.next().await.unwrap();
        assert_eq!((opening.retry.as_str(), opening.data.as_str()), ("3000", ""), "{opening:?}");
        listener
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path, "").body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(request("DELETE", path, "").body(Body::empty()).unwrap()).await
    }

    /// A POST of plain JSON.
    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(request("POST", path, body).body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Enqueues a job and tells its id.
    pub(crate) async fn enqueue(&self, body: &str) -> String {
        let answer = self.post("/ojs/v1/jobs", body).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        answer.text_at("/job/id")
    }

    /// Fetches a job of the default queue and tells its id.
    pub(crate) async fn fetch(&self) -> String {
        self.post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#).await.text_at("/jobs/0/id")
    }
}

/// A request of plain JSON with a name of its own, so that answers are the same each time.
pub(crate) fn request(method: &str, path: &str, body: &str) -> axum::http::request::Builder {
    let request = Request::builder().method(method).uri(path).header("x-request-id", "req-test");
    if body.is_empty() { request } else { request.header("content-type", "application/json") }
}
