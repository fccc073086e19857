//! The server over real sockets: what clients do to a connection, and what it survives.

mod sockets;
mod streams;

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::testing::{Rig, StalledStore};
use crate::{Limits, testing};

use super::*;

/// Longer than anything here takes, shorter than any limit of the server.
const PATIENCE: Duration = Duration::from_secs(5);

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<io::Result<()>>,
}

async fn start(limits: Limits) -> Running {
    let rig = Rig::with(testing::Setup { limits: limits.clone(), ..testing::Setup::default() });
    serve(rig, &limits).await
}

async fn serve(rig: Rig, limits: &Limits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (connections, drain_time) = (limits.connections, limits.drain_time);
    let streams = Arc::clone(&rig.shared.streams);
    let bound = Bound { listener, front: rig.front, streams, connections, drain_time };
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(bound.serve(async {
        // An error means that the test has dropped its end, which is a wish to stop as well.
        let _dropped = stopped.await;
    }));
    Running { address, stop, ended }
}

struct Client(TcpStream);

impl Client {
    async fn connect(address: SocketAddr) -> Client {
        Client(TcpStream::connect(address).await.unwrap())
    }

    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// The head and the body of the next answer.
    async fn answer(&mut self) -> (String, String) {
        timeout(PATIENCE, self.read_answer()).await.expect("an answer in time")
    }

    async fn read_answer(&mut self) -> (String, String) {
        let mut bytes = Vec::new();
        let head_end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "closed within a head");
        };
        let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.unwrap().parse().unwrap();
        while bytes.len() < head_end + length {
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "closed within a body");
        }
        assert_eq!(bytes.len(), head_end + length, "nothing behind the answer");
        (head, String::from_utf8(bytes[head_end..].to_vec()).unwrap())
    }

    async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        matches!(timeout(PATIENCE, self.0.read(&mut byte)).await, Ok(Ok(0) | Err(_)))
    }

    async fn is_well(&mut self) {
        self.send("GET /ojs/v1/health HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(self.answer().await.0.starts_with("http/1.1 200"));
    }
}

#[tokio::test]
async fn a_connection_survives_odd_methods_unknown_paths_and_bad_bodies() {
    let server = start(Limits::default()).await;
    let mut client = Client::connect(server.address).await;
    for (line, status) in [
        ("ASSERT /", "404"),
        ("push /", "404"),
        ("get /", "404"),
        ("PUT /ojs/v1/jobs", "405"),
        ("POST /ojs/v1/jobs", "400"),
        ("POST /nowhere", "404"),
    ] {
        // In two pieces, as some clients send them.
        client.send(&format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")).await;
        client.send("{\"broken\"").await;
        let (head, body) = client.answer().await;
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{line}: {head}");
        assert!(head.contains("ojs-version: 1.0") && body.starts_with("{\"error\":"), "{line}: {body}");
    }
    client.is_well().await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_answered_and_the_connection_goes_on_if_it_can() {
    let server = start(Limits { job_bytes: 1000, ..Limits::default() }).await;
    let mut client = Client::connect(server.address).await;
    let large = "x".repeat(200_000);
    client
        .send(&format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n{large}"))
        .await;
    assert!(client.answer().await.0.starts_with("http/1.1 413"));
    client.is_well().await;
    client.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    client.send(&format!("fa0\r\n{}\r\n0\r\n\r\n", "x".repeat(4000))).await;
    assert!(client.answer().await.0.starts_with("http/1.1 413"));
    client.is_well().await;
    // A client that asks first is told, and sends nothing.
    client
        .send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
        .await;
    let (head, _) = client.answer().await;
    assert!(head.starts_with("http/1.1 413") && head.contains("connection: close"), "{head}");
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_in_the_end() {
    let server = start(Limits { body_time: Duration::from_millis(50), ..Limits::default() }).await;
    let mut client = Client::connect(server.address).await;
    client.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{").await;
    let (head, body) = client.answer().await;
    assert!(head.starts_with("http/1.1 408") && body.contains("request_timeout"), "{head}{body}");
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn clients_that_send_half_a_request_do_not_hold_up_others() {
    let server = start(Limits::default()).await;
    let mut half = Vec::new();
    for text in [
        "",
        "G",
        "PRI * HTTP/2.0\r\n",
        "GET /health HTTP/1.1\r\nHost:",
        "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ] {
        for _ in 0..20 {
            let mut client = Client::connect(server.address).await;
            client.send(text).await;
            half.push(client);
        }
    }
    Client::connect(server.address).await.is_well().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_their_turn() {
    let server = start(Limits { connections: 1, ..Limits::default() }).await;
    let mut first = Client::connect(server.address).await;
    first.is_well().await;
    let mut second = Client::connect(server.address).await;
    second.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(timeout(Duration::from_millis(100), second.read_answer()).await.is_err());
    drop(first);
    assert!(second.answer().await.0.starts_with("http/1.1 200"));
}

#[tokio::test]
async fn a_server_that_stops_lets_requests_end() {
    let server = start(Limits::default()).await;
    let mut waiting = Client::connect(server.address).await;
    let fetch = r#"{"queues":["default"],"wait_ms":300}"#;
    let length = fetch.len();
    waiting
        .send(&format!(
            "POST /ojs/v1/workers/fetch HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{fetch}"
        ))
        .await;
    let mut idle = Client::connect(server.address).await;
    idle.is_well().await;
    server.stop.send(()).unwrap();
    assert!(idle.is_closed().await);
    assert_eq!(waiting.answer().await.1, r#"{"jobs":[]}"#);
    assert!(waiting.is_closed().await);
    timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_ever() {
    let server = start(Limits { drain_time: Duration::from_millis(50), ..Limits::default() }).await;
    let mut client = Client::connect(server.address).await;
    client.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{").await;
    client.0.readable().now_or_wait().await;
    server.stop.send(()).unwrap();
    timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap().unwrap();
}

/// A request that is cut may have reached the store: the broker has to know of it before the server ends, or nobody
/// would see it through.
#[tokio::test]
async fn requests_that_are_cut_are_known_to_the_broker_when_the_server_has_ended() {
    let limits = Limits { drain_time: Duration::from_millis(50), ..Limits::default() };
    let job = r#"{"type":"a","args":[]}"#;
    let length = job.len();
    let first = format!("POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{job}");
    let second = http_2_request("POST", "/ojs/v1/jobs", job);
    for request in [first.into_bytes(), second] {
        let setup = testing::Setup {
            limits: limits.clone(),
            store: Arc::new(StalledStore),
            ..testing::Setup::default()
        };
        let rig = Rig::with(setup);
        let broker = rig.shared.broker.clone();
        let server = serve(rig, &limits).await;
        let mut client = Client::connect(server.address).await;
        client.0.write_all(&request).await.unwrap();
        let _moment = timeout(Duration::from_millis(50), std::future::pending::<()>()).await;
        server.stop.send(()).unwrap();
        timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap().unwrap();
        let chores = timeout(Duration::from_millis(50), broker.run_chores(async {})).await;
        assert!(chores.is_err(), "the chores wait for the request that was cut");
    }
}

/// Gives the server a moment to see what was sent.
trait NowOrWait {
    async fn now_or_wait(self);
}

impl<F: Future> NowOrWait for F {
    async fn now_or_wait(self) {
        let _elapsed = timeout(Duration::from_millis(50), self).await;
    }
}

/// A connection's opening and one request on it.
fn http_2_request(method: &str, path: &str, body: &str) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).unwrap();
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    };
    // Static entries for the method and http; path and authority as literals.
    let mut head = vec![if method == "POST" { 0x83 } else { 0x82 }, 0x86];
    for (name, value) in [(0x04, path), (0x01, "x")] {
        head.extend_from_slice(&[name, u8::try_from(value.len()).unwrap()]);
        head.extend_from_slice(value.as_bytes());
    }
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(4, 0, 0, &[]));
    bytes.extend(frame(1, if body.is_empty() { 0x5 } else { 0x4 }, 1, &head));
    if !body.is_empty() {
        bytes.extend(frame(0, 0x1, 1, body.as_bytes()));
    }
    bytes
}

#[tokio::test]
async fn http_2_is_spoken_without_a_prelude() {
    let server = start(Limits::default()).await;
    let mut client = Client::connect(server.address).await;
    client.0.write_all(&http_2_request("GET", "/health", "")).await.unwrap();
    let mut seen = Vec::new();
    let answered = timeout(PATIENCE, async {
        while !seen.windows(13).any(|window| window == b"\"status\":\"ok\"") {
            assert_ne!(client.0.read_buf(&mut seen).await.unwrap(), 0, "closed");
        }
    });
    answered.await.expect("an answer in time");
}

#[tokio::test]
async fn an_address_that_is_reserved_is_taken_although_nobody_listens_yet() {
    let first = reserve("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = first.0.local_addr().unwrap();
    assert_eq!(reserve(address).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    drop(first);
    assert!(reserve(address).is_ok());
}
