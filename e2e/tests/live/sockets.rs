//! WebSockets, byte by byte.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use e2e::clock::SOON;
use e2e::{Server, job};
use serde_json::{Value, json};

use crate::life;

/// A client that masks with zeros, which is allowed and leaves the text to be read.
struct Socket(TcpStream);

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

#[expect(clippy::expect_used, reason = "a conversation that goes otherwise fails its test")]
impl Socket {
    fn open(server: &Server) -> Socket {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(SOON)).expect("a time limit");
        let request = "GET /ojs/v1/ws HTTP/1.1\r\nHost: hapax\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                       Sec-WebSocket-Protocol: ojs.v1\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("sent");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a head");
            head.extend_from_slice(&byte);
        }
        let head = String::from_utf8(head).expect("text").to_lowercase();
        assert!(head.starts_with("http/1.1 101 "), "{head}");
        // The answer to this key that RFC 6455 has as its example.
        assert!(head.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n"), "{head}");
        assert!(head.contains("sec-websocket-protocol: ojs.v1\r\n"), "{head}");
        Socket(stream)
    }

    fn send(&mut self, kind: u8, payload: &[u8]) {
        let length =
            u8::try_from(payload.len()).ok().filter(|length| *length < 126).expect("a short message");
        let frame = [&[kind, 0x80 | length, 0, 0, 0, 0], payload].concat();
        self.0.write_all(&frame).expect("sent");
    }

    #[track_caller]
    fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).expect("a frame");
        let mut length = usize::from(head[1]);
        if length == 126 {
            let mut long = [0; 2];
            self.0.read_exact(&mut long).expect("a length");
            length = usize::from(u16::from_be_bytes(long));
        }
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).expect("a payload");
        (head[0], payload)
    }

    #[track_caller]
    fn hears(&mut self) -> Value {
        let (kind, payload) = self.frame();
        assert_eq!(kind, TEXT, "{payload:?}");
        serde_json::from_slice(&payload).expect("JSON")
    }

    #[track_caller]
    fn says(&mut self, words: &Value) -> Value {
        self.send(TEXT, words.to_string().as_bytes());
        self.hears()
    }
}

#[test]
fn a_client_hears_what_it_asked_for_until_it_has_enough() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let mut socket = Socket::open(&server);
    let subscribe =
        json!({"action": "subscribe", "channel": format!("job:{id}"), "event_types": ["job.completed"]});
    let answer = socket.says(&subscribe);
    assert_eq!(
        (&answer["type"], &answer["action"]),
        (&json!("subscribed"), &json!("subscribed")),
        "{answer}"
    );
    assert_eq!(answer["event_types"], json!(["job.completed"]));
    let delivery = client.fetch_one("default");
    client.ack(&delivery).is(200);
    let heard = socket.hears();
    assert_eq!((&heard["type"], &heard["event"]), (&json!("event"), &json!("job.completed")), "{heard}");
    assert_eq!(
        (&heard["data"]["job_id"], &heard["data"]["to"]),
        (&json!(id), &json!("completed")),
        "{heard}"
    );
    socket.send(PING, b"x");
    assert_eq!(socket.frame(), (PONG, b"x".to_vec()));
    assert_eq!(socket.says(&json!({"action": "dance"}))["code"], "invalid_request");
    let gone = json!({"action": "unsubscribe", "subscription_id": answer["subscription_id"]});
    assert_eq!(socket.says(&gone)["type"], "unsubscribed");
    socket.send(CLOSE, &1000_u16.to_be_bytes());
    assert_eq!(socket.frame().0, CLOSE);
}

#[test]
fn who_comes_back_is_told_what_it_missed() {
    let server = Server::start();
    let mut client = server.client();
    let wish = json!({"action": "subscribe", "channel": "all", "event_types": ["job.completed"]});
    let mut socket = Socket::open(&server);
    socket.says(&wish);
    life(&mut client, "default");
    let last = socket.hears()["id"].clone();
    drop(socket);
    let id = life(&mut client, "default");
    let mut back = Socket::open(&server);
    back.says(&wish);
    assert_eq!(back.says(&json!({"action": "resume", "last_event_id": last}))["type"], "resumed");
    assert_eq!(back.hears()["data"]["job_id"], id);
    let unknown = back.says(&json!({"action": "resume", "last_event_id": "evt_0042"}));
    assert_eq!(unknown["code"], "unknown_event_id");
}

#[test]
fn a_server_that_stops_says_goodbye() {
    let mut server = Server::start();
    let mut socket = Socket::open(&server);
    socket.says(&json!({"action": "subscribe", "channel": "all"}));
    server.signal("TERM");
    let heard = socket.hears();
    assert_eq!(
        (&heard["event"], &heard["data"]["grace_period_ms"]),
        (&json!("server.shutdown"), &json!(5000))
    );
    let (kind, payload) = socket.frame();
    assert_eq!((kind, &payload[..2]), (CLOSE, &1001_u16.to_be_bytes()[..]));
    socket.send(CLOSE, &payload[..2]);
    assert_eq!(server.wait(SOON).code(), Some(0));
}

#[test]
fn whoever_sends_pings_and_takes_no_answers_is_not_read_on() {
    // More than all buffers of the system between both ends hold.
    const BYTES: usize = 64 << 20;
    let server = Server::start();
    let mut socket = Socket::open(&server);
    socket.0.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let ping = [&[PING, 0x80 | 0x7d, 0, 0, 0, 0][..], &[0; 0x7d]].concat();
    let pings = ping.repeat(500);
    let taken = (0..BYTES / pings.len()).all(|_| socket.0.write_all(&pings).is_ok());
    assert!(!taken, "the server keeps the answers to {BYTES} bytes of pings");
    assert_eq!(server.client().get("/health").status, 200);
}
