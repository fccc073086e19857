//! The protocol below the requests: odd methods, odd framing, and clients that stop halfway.

use std::time::Duration;

use e2e::{Client, Request, clock, job};

use crate::{nothing_was_stored, start};

const GOOD: &str = r#"{"type":"a.b","args":[]}"#;
const HALF_SENT: usize = 50;
/// Within this a healthy client is served, whatever others do.
const AT_ONCE: Duration = Duration::from_millis(500);
/// By then a client that never ended its head must have been cut off.
const HEAD_MAX: Duration = Duration::from_secs(20);

#[test]
fn unknown_paths_and_methods_are_answered_in_json() {
    let (_server, mut client) = start();
    for path in ["/", "/nope", "/ojs/v1", "/ojs/v1/nope", "/ojs/v2/jobs", "/ojs/v1/jobs/a/b/c", "//"] {
        client.get(path).is_refusal(404, "not_found");
    }
    for (method, path) in [
        ("DELETE", "/ojs/v1/health"),
        ("PUT", "/ojs/v1/jobs"),
        ("GET", "/ojs/v1/workers/fetch"),
        ("PATCH", "/ojs/manifest"),
    ] {
        let answer = client.send(&Request::new(method, path));
        answer.is_refusal(405, "method_not_allowed");
        assert!(answer.header("allow").is_some(), "{method} {path}");
    }
    // The conformance runner sends these.
    for method in ["ASSERT", "push", "get", "fetch", "ack"] {
        let answer = client.send(&Request::new(method, "/"));
        assert!(matches!(answer.status, 404 | 405), "{method}: {}", answer.status);
        answer.is_error(answer.status);
    }
    nothing_was_stored(&mut client);
}

#[test]
fn an_unsupported_version_is_refused() {
    let (_server, mut client) = start();
    let request = Request::post("/ojs/v1/jobs", GOOD);
    client.send(&request.clone().header("OJS-Version", "9.9")).is_refusal(422, "unsupported");
    nothing_was_stored(&mut client);
    assert_eq!(client.send(&request.header("OJS-Version", "1.0")).is(201).header("ojs-version"), Some("1.0"));
}

#[test]
fn a_connection_survives_bad_requests() {
    let (_server, mut client) = start();
    for _ in 0..20 {
        client.send(&Request::post("/ojs/v1/jobs", "{nope")).is(400);
        assert!(client.is_open());
        client.get("/nowhere").is(404);
        assert!(client.is_open());
        client.get("/ojs/v1/health").is(200);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_server, mut client) = start();
    let mut bytes = Vec::new();
    for number in 0..8 {
        let body = if number % 3 == 2 { "{nope" } else { GOOD };
        let request = Request::post("/ojs/v1/jobs", body).header("X-Request-Id", &format!("pipe-{number}"));
        bytes.extend(request.bytes());
    }
    client.write(&bytes).expect("all are sent");
    for number in 0..8 {
        let answer = client.read_answer().expect("an answer");
        assert_eq!(answer.header("x-request-id"), Some(format!("pipe-{number}").as_str()));
        answer.is(if number % 3 == 2 { 400 } else { 201 });
    }
    assert_eq!(client.count("default", "available"), 6);
}

#[test]
fn chunked_bodies_are_read() {
    let (_server, mut client) = start();
    let head = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let (a, b) = GOOD.split_at(9);
    let body = format!("{:x}\r\n{a}\r\n{:x};extension=1\r\n{b}\r\n0\r\n\r\n", a.len(), b.len());
    client.write(format!("{head}{body}").as_bytes()).expect("sent");
    client.read_answer().expect("an answer").is(201);
    assert_eq!(client.count("default", "available"), 1);
}

#[test]
fn expect_continue_is_honoured() {
    let (_server, mut client) = start();
    let request = Request::post("/ojs/v1/jobs", GOOD).header("Expect", "100-continue");
    client.send(&request).is(201);
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let (_server, mut client) = start();
    client.write(b"GET /ojs/v1/health HTTP/1.0\r\n\r\n").expect("sent");
    client.read_answer().expect("an answer").is(200);
    assert!(client.is_closed_within(HEAD_MAX));
}

#[test]
fn broken_framing_is_refused_and_closed() {
    let (server, _) = start();
    let post = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    let broken = [
        "NONSENSE\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "GET  / HTTP/1.1\r\n\r\n".to_owned(),
        "GET /ojs/v1/health HTTP/1.1\r\nBad Header\r\n\r\n".to_owned(),
        "GET /ojs/v1/health HTTP/1.1\r\nName\0: x\r\n\r\n".to_owned(),
        format!("{post}Content-Length: abc\r\n\r\n{GOOD}"),
        format!("{post}Content-Length: -5\r\n\r\n{GOOD}"),
        format!("{post}Content-Length: 99999999999999999999999\r\n\r\n{GOOD}"),
        format!("{post}Content-Length: 24\r\nContent-Length: 25\r\n\r\n{GOOD}"),
        format!("{post}Transfer-Encoding: gzip\r\n\r\n{GOOD}"),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{GOOD}\r\n0\r\n\r\n"),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}".to_owned(),
    ];
    for bytes in broken {
        let mut client = server.client();
        client.write(bytes.as_bytes()).expect("sent");
        // Some of it is only understood as broken once nothing more can come.
        if let Ok(answer) = client.read_answer() {
            assert!((400..500).contains(&answer.status), "{bytes:?}: {}", answer.status);
        }
        assert!(client.is_closed_within(HEAD_MAX), "{bytes:?} left the connection open");
    }
    nothing_was_stored(&mut server.client());
}

#[test]
fn a_body_that_ends_early_stores_nothing() {
    let (server, _) = start();
    for sent in [0, 5, GOOD.len() - 1] {
        let mut client = server.client();
        let head = format!(
            "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            GOOD.len()
        );
        client.write(format!("{head}{}", &GOOD[..sent]).as_bytes()).expect("sent");
    }
    nothing_was_stored(&mut server.client());
}

#[test]
fn half_sent_heads_do_no_harm_and_are_cut_off() {
    let (server, mut healthy) = start();
    let mut held: Vec<Client> = (0..HALF_SENT).map(|_| server.client()).collect();
    for client in &mut held {
        client.write(b"POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-").expect("sent");
    }
    let before = clock::now();
    healthy.create(&job("a.b"));
    server.client().get("/ojs/v1/health").is(200);
    assert!(before.elapsed() < AT_ONCE, "served after {:?}", before.elapsed());
    for client in &mut held {
        assert!(client.is_closed_within(HEAD_MAX), "a half-sent head is held for ever");
    }
}

#[test]
fn half_sent_bodies_do_no_harm_and_are_cut_off() {
    let (server, mut healthy) = start();
    let mut held: Vec<Client> = (0..HALF_SENT).map(|_| server.client()).collect();
    for client in &mut held {
        let start = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                     Content-Length: 500\r\n\r\n{";
        client.write(start.as_bytes()).expect("sent");
    }
    let before = clock::now();
    let id = healthy.create(&job("a.b"));
    let delivery = healthy.fetch_one("default");
    healthy.ack(&delivery).is(200);
    assert!(before.elapsed() < AT_ONCE, "served after {:?}", before.elapsed());
    assert_eq!(healthy.state(&id), "completed");
    assert_eq!(healthy.count("default", "available"), 0);
    for client in &mut held {
        let answer = client.read_answer().expect("an answer when the time is over");
        answer.is_refusal(408, "request_timeout");
    }
}

#[test]
fn clients_that_leave_without_reading_do_no_harm() {
    let (server, mut healthy) = start();
    for _ in 0..HALF_SENT {
        let mut client = server.client();
        let request = Request::new("GET", "/ojs/manifest");
        client.write(&request.bytes().repeat(20)).expect("sent");
    }
    let before = clock::now();
    healthy.create(&job("a.b"));
    assert!(before.elapsed() < AT_ONCE, "served after {:?}", before.elapsed());
}
