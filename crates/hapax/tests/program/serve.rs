//! The server as its operator sees it: what it prints, how it stops, with which code it ends.

use std::io::Read as _;

use crate::server::{Server, answer, hapax};

#[test]
fn a_job_outlives_the_server() {
    let data = tempfile::tempdir().unwrap();
    let arguments = ["--data", data.path().to_str().unwrap()];
    let server = Server::start(&arguments);
    let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
    let body = format!(r#"{{"id":"{id}","type":"email.send","args":[1]}}"#);
    let created = answer(server.post("/ojs/v1/jobs", &body));
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    server.signal("TERM");
    assert_eq!(server.code(), Some(0));

    let server = Server::start(&arguments);
    let found = server.get(&format!("/ojs/v1/jobs/{id}"));
    assert!(found.starts_with("HTTP/1.1 200"), "{found}");
    server.signal("INT");
    assert_eq!(server.code(), Some(0));
}

#[test]
fn the_command_that_the_server_suggests_works() {
    let mut server = Server::start(&["--store", "memory"]);
    let curl = server.line_with("curl");
    let body = curl.split('\'').nth(3).unwrap();
    for expected in ["HTTP/1.1 201", "HTTP/1.1 200"] {
        let reply = answer(server.post("/ojs/v1/jobs", body));
        assert!(reply.starts_with(expected), "{reply}");
    }
}

#[test]
fn a_waiting_fetch_does_not_hold_up_the_end() {
    let mut server = Server::start(&["--store", "memory"]);
    let fetch = server.post("/ojs/v1/workers/fetch", r#"{"queues":["default"],"wait_ms":30000}"#);
    // The answer to another request says that the fetch, sent before it, is most likely waiting; if it is not
    // yet, it must not begin to.
    server.get("/ojs/v1/health");
    server.signal("TERM");
    server.line_with("SIGTERM came");
    assert!(answer(fetch).contains(r#""jobs":[]"#));
    assert_eq!(server.code(), Some(0));
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let mut server = Server::start(&["--store", "memory"]);
    let unfinished = server.send("POST /ojs/v1/jobs HTTP/1.1\r\nHost: hapax\r\nContent-Length: 100\r\n\r\n{");
    server.get("/ojs/v1/health");
    server.signal("TERM");
    server.line_with("SIGTERM came");
    server.signal("INT");
    server.line_with("SIGINT came again");
    assert_eq!(server.code(), Some(130));
    drop(unfinished);
}

#[test]
fn with_json_every_line_is_an_object_and_standard_output_stays_empty() {
    let mut server = Server::start(&["--store", "memory", "--log", "json"]);
    server.get("/ojs/v1/jobs/unknown");
    server.signal("TERM");
    let lines: Vec<String> = server.lines.by_ref().map(Result::unwrap).collect();
    assert!(!lines.is_empty());
    assert!(lines.iter().all(|line| line.starts_with('{') && line.ends_with('}')), "{lines:?}");
    let mut printed = String::new();
    server.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((server.code(), &*printed), (Some(0), ""));
}

#[track_caller]
fn check_refused(arguments: &[&str], environment: (&str, &str), expected_code: i32, expected: &str) {
    let output = hapax(arguments).env(environment.0, environment.1).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(expected_code), "{text}");
    assert!(text.contains(expected), "{text}");
}

#[cfg(not(feature = "otlp"))]
#[test]
fn a_program_without_spans_says_how_to_get_them() {
    let advice = "hint: build it with them: cargo build --release -p hapax --features otlp";
    check_refused(&["--otlp-endpoint", "http://127.0.0.1:4318"], ("A", "B"), 1, advice);
    check_refused(&[], ("HAPAX_OTLP_ENDPOINT", "http://127.0.0.1:4318"), 1, advice);
}

#[test]
fn a_start_that_fails_says_why_and_what_to_do() {
    let server = Server::start(&["--store", "memory"]);
    let listen: &[&str] = &["--store", "memory", "--listen", &server.address];
    check_refused(listen, ("A", "B"), 1, "hint: another program listens there");
    check_refused(&["--listen", "0.0.0.0:0"], ("A", "B"), 1, "hint: require keys with --api-key-file");
    check_refused(&["--store", "memory"], ("HAPAX_LISTEN", "0.0.0.0:0"), 1, "0.0.0.0:0 can be reached");
    check_refused(&["--store", "memory"], ("OJS_API_KEY", "short"), 1, "OJS_API_KEY is shorter");
    check_refused(
        &["--store", "memory", "--log-level", "=="],
        ("A", "B"),
        1,
        "is not a filter for log lines",
    );
    check_refused(&["--listen", "here"], ("A", "B"), 2, "is not an address with a port");
    check_refused(&["--retain-completed", "7 days"], ("A", "B"), 2, "is not an ISO 8601 duration");
    check_refused(&[], ("HAPAX_STORE", "redis"), 2, "embedded, memory");
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let data = tempfile::tempdir().unwrap();
    let arguments: &[&str] = &["--data", data.path().to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let _first = Server::start(&arguments[..2]);
    check_refused(arguments, ("A", "B"), 1, "hint: another hapax serves this folder");
}

#[test]
fn a_key_from_the_environment_is_asked_for() {
    let mut command = hapax(&["--store", "memory"]);
    command.env("OJS_API_KEY", "0123456789abcdef");
    let server = Server::of(command);
    let refused = server.get("/ojs/v1/queues");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let request = "GET /ojs/v1/queues HTTP/1.1\r\nHost: hapax\r\nConnection: close\r\n\
                   Authorization: Bearer 0123456789abcdef\r\n\r\n";
    let allowed = answer(server.send(request));
    assert!(allowed.starts_with("HTTP/1.1 200"), "{allowed}");
}
