//! Spans as a collector gets them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::server::{Server, answer};

/// Long enough for anything that should happen within a second on a busy machine.
const SOON: Duration = Duration::from_secs(30);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A request to a collector: its head in lower case, and its body.
struct Arrival {
    head: String,
    body: Value,
}

/// A collector that listens until the test ends.
struct Collector {
    url: String,
    arrivals: Receiver<Arrival>,
}

impl Collector {
    /// One that answers with these statuses, and then with 200.
    fn start(statuses: &'static [&'static str]) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (arrived, arrivals) = mpsc::channel();
        thread::spawn(move || {
            let mut statuses = statuses.iter();
            for stream in listener.incoming() {
                take(stream.unwrap(), statuses.next().unwrap_or(&"200 OK"), &arrived);
            }
        });
        Collector { url, arrivals }
    }

    fn next(&self) -> Arrival {
        self.arrivals.recv_timeout(SOON).expect("spans arrive")
    }

    /// As many spans as the test waits for, in the order in which they came.
    fn spans(&self, count: usize) -> Vec<Value> {
        let mut spans = Vec::new();
        while spans.len() < count {
            spans.extend(spans_of(&self.next().body));
        }
        assert_eq!(spans.len(), count, "{spans:#?}");
        spans
    }
}

fn take(stream: TcpStream, status: &str, arrived: &Sender<Arrival>) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    write!(reader.get_mut(), "HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\n{{}}").unwrap();
    // The test may have seen enough.
    drop(arrived.send(Arrival { head, body: serde_json::from_slice(&body).unwrap() }));
}

fn spans_of(body: &Value) -> Vec<Value> {
    body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

fn attribute<'s>(of: &'s Value, key: &str) -> &'s Value {
    let found = of["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
    let value = &found.unwrap_or_else(|| panic!("no {key} in {of:#}"))["value"];
    value.get("stringValue").unwrap_or(&value["intValue"])
}

/// The body of a 2xx answer.
#[track_caller]
fn done(stream: TcpStream) -> Value {
    let text = answer(stream);
    assert!(text.starts_with("HTTP/1.1 2"), "{text}");
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Takes a job that waits or is about to.
fn fetch(server: &Server) -> String {
    let body = r#"{"queues":["default"],"worker_id":"w-1","wait_ms":20000}"#;
    let fetched = done(server.post("/ojs/v1/workers/fetch", body));
    fetched["jobs"][0]["id"].as_str().unwrap().to_owned()
}

fn enqueue_traced(server: &Server) -> String {
    let retry = r#"{"max_attempts":3,"initial_interval":"PT0.010S","jitter":false}"#;
    let job = format!(r#"{{"type":"email.send","args":[],"retry":{retry}}}"#);
    let created = done(server.send(&format!(
        "POST /ojs/v1/jobs HTTP/1.1\r\nHost: hapax\r\nConnection: close\r\nContent-Type: application/json\r\n\
         traceparent: 00-{TRACE}-{PARENT}-01\r\nContent-Length: {}\r\n\r\n{job}",
        job.len()
    )));
    created["job"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_that_fails_and_succeeds_is_three_spans_of_the_trace_of_its_client() {
    let collector = Collector::start(&[]);
    let headers = "authorization=Bearer%20s3cret";
    let arguments = [
        "--store",
        "memory",
        "--otlp-endpoint",
        &collector.url,
        "--otlp-headers",
        headers,
        "--otlp-service-name",
        "jobs",
    ];
    let server = Server::start(&arguments);
    let id = enqueue_traced(&server);
    let first = collector.next();
    assert!(first.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", first.head);
    assert!(first.head.contains("\r\nauthorization: bearer s3cret\r\n"), "{}", first.head);
    assert!(first.head.contains("\r\ncontent-type: application/json\r\n"), "{}", first.head);
    assert_eq!(attribute(&first.body["resourceSpans"][0]["resource"], "service.name"), "jobs");
    let mut spans = spans_of(&first.body);
    assert_eq!(fetch(&server), id);
    let error = r#""error":{"code":"oops","message":"it broke"}"#;
    done(server.post("/ojs/v1/workers/nack", &format!(r#"{{"job_id":"{id}",{error}}}"#)));
    assert_eq!(fetch(&server), id);
    done(server.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{id}"}}"#)));
    spans.extend(collector.spans(2));
    let [enqueue, failed, succeeded] = spans.as_slice() else { panic!("{spans:#?}") };
    assert_eq!((&enqueue["name"], &enqueue["parentSpanId"]), (&"default enqueue".into(), &PARENT.into()));
    for span in &spans {
        assert_eq!((&span["traceId"], attribute(span, "ojs.job.id")), (&TRACE.into(), &id.clone().into()));
    }
    for (span, number, status) in [(failed, "1", 2), (succeeded, "2", 1)] {
        assert_eq!((&span["name"], &span["parentSpanId"]), (&"default process".into(), &enqueue["spanId"]));
        assert_eq!(
            (&span["links"][0]["traceId"], &span["links"][0]["spanId"]),
            (&TRACE.into(), &PARENT.into())
        );
        assert_eq!(
            (attribute(span, "ojs.job.attempt"), &span["status"]["code"]),
            (&number.into(), &status.into())
        );
        assert_eq!(attribute(span, "ojs.worker.id"), "w-1");
    }
    assert_eq!(attribute(failed, "error.type"), "oops");
    assert_ne!(failed["spanId"], succeeded["spanId"]);
}

#[test]
fn the_last_spans_arrive_before_the_server_is_gone_and_what_it_prints_has_no_secret() {
    let collector = Collector::start(&["503 Service Unavailable"]);
    let arguments = ["--store", "memory", "--log-level", "trace", "--otlp-endpoint", &collector.url];
    let mut server = Server::start(&[&arguments[..], &["--otlp-headers", "x-key=s3cret"]].concat());
    enqueue_traced(&server);
    server.signal("TERM");
    let log: Vec<String> = server.lines.by_ref().map(Result::unwrap).collect();
    assert_eq!(server.code(), Some(0));
    // If the first batch was sent before the signal, it was refused for the moment and is sent again.
    let mut spans = spans_of(&collector.next().body);
    spans.extend(collector.arrivals.try_iter().flat_map(|arrival| spans_of(&arrival.body)));
    assert_eq!(spans[0]["name"], "default enqueue");
    assert!(!log.iter().any(|line| line.contains("s3cret")), "{log:#?}");
}

#[test]
fn a_collector_that_is_away_or_silent_is_in_nobodys_way() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), gone] {
        let url = format!("http://{address}");
        let mut server = Server::start(&["--store", "memory", "--otlp-endpoint", &url]);
        for _ in 0..50 {
            let id = enqueue_traced(&server);
            assert_eq!(fetch(&server), id);
            done(server.post("/ojs/v1/workers/ack", &format!(r#"{{"job_id":"{id}"}}"#)));
        }
        server.signal("TERM");
        server.line_with("spans did not reach the collector and are lost");
        assert_eq!(server.code(), Some(0));
    }
}

#[test]
fn what_becomes_of_spans_is_counted_where_everything_is() {
    let collector = Collector::start(&["400 Bad Request"]);
    let mut server = Server::start(&["--store", "memory", "--otlp-endpoint", &collector.url]);
    assert!(!server.get("/metrics").contains("ojs_spans"), "nothing is said before there are any");
    enqueue_traced(&server);
    collector.next();
    server.line_with("the collector answered with status 400");
    assert!(server.get("/metrics").contains(r#"ojs_spans_total{outcome="dropped"} 1"#));
}
