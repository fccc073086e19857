//! API keys: without one nothing is answered, and none is ever shown.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use e2e::{Client, Launch, Request, Server, job};
use serde_json::json;
use tempfile::TempDir;

const FIRST: &str = "hapax_canary_first_3f9a1c7e5b2d4860";
const SECOND: &str = "hapax_canary_second_77aa31fe90cd5521";
const WRONG: &str = "hapax_canary_wrong_00000000000000000";

/// A folder with a file of two keys.
fn key_file() -> (TempDir, PathBuf) {
    let home = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
    let file =
        written(&home, "keys", &format!("# of this server\nfirst:{FIRST}\n\nsecond:{SECOND}\n"), 0o600);
    (home, file)
}

fn written(home: &TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    let file = home.path().join(name);
    let done = fs::write(&file, text).and_then(|()| fs::set_permissions(&file, Permissions::from_mode(mode)));
    done.unwrap_or_else(|error| panic!("{error}"));
    file
}

fn guarded(args: &[&str]) -> Server {
    let (home, file) = key_file();
    let launch = Launch::default().args(&["--api-key-file", &file.to_string_lossy()]).args(args).key(FIRST);
    Server::start_in(home, launch)
}

#[test]
fn without_a_key_nothing_is_answered() {
    let server = guarded(&[]);
    let mut stranger = Client::new(server.address());
    let body = job("a.b").text();
    for request in [
        Request::post("/ojs/v1/jobs", body.clone()),
        Request::post("/ojs/v1/jobs/batch", body.clone()),
        Request::post("/ojs/v1/jobs/bulk", body.clone()),
        Request::post("/ojs/v1/unique/explain", body),
        Request::new("GET", "/ojs/v1/unique/keys"),
        Request::new("GET", &format!("/ojs/v1/unique/keys/{}", "0".repeat(64))),
        Request::new("POST", &format!("/ojs/v1/unique/keys/{}/release", "0".repeat(64))),
        Request::new("DELETE", "/ojs/v1/job-keys/name"),
        Request::post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#),
        Request::post("/ojs/v1/workers/ack", "{}"),
        Request::new("GET", "/ojs/v1/queues"),
        Request::new("GET", "/ojs/v1/jobs/01912345-6789-7abc-8def-0123456789ab"),
        Request::new("GET", "/ojs/v1/dead-letter"),
        Request::new("GET", "/ojs/v1/events"),
        Request::new("POST", "/ojs/v1/admin/reset"),
    ] {
        let answer = stranger.send(&request);
        answer.is_refusal(401, "unauthenticated");
        assert!(answer.header("www-authenticate").is_some());
    }
    assert_eq!(server.client().count("default", "available"), 0);
}

#[test]
fn health_needs_no_key() {
    let server = guarded(&[]);
    let mut stranger = Client::new(server.address());
    for path in ["/ojs/v1/health", "/health", "/ready"] {
        stranger.get(path).is(200);
    }
}

#[test]
fn each_of_several_keys_opens_and_others_do_not() {
    let server = guarded(&[]);
    let client = || Client::new(server.address());
    for key in [FIRST, SECOND] {
        client().with_key(key).create(&job("a.b"));
    }
    let nearly =
        [WRONG, "", &FIRST[1..], &FIRST[..FIRST.len() - 1], &format!("{FIRST}x"), &FIRST.to_uppercase()];
    for key in nearly {
        client().with_key(key).enqueue(&job("a.b")).is_refusal(401, "unauthenticated");
    }
    for header in [FIRST.to_owned(), format!("Basic {FIRST}"), format!("Bearer\t{FIRST} {FIRST}")] {
        let request = Request::post("/ojs/v1/jobs", job("a.b").text()).header("Authorization", &header);
        client().send(&request).is_refusal(401, "unauthenticated");
    }
    assert_eq!(server.client().count("default", "available"), 2);
}

#[test]
fn a_refused_request_is_refused_before_its_body_is_read() {
    let server = guarded(&[]);
    let mut stranger = Client::new(server.address());
    let head = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n";
    stranger.write(head.as_bytes()).expect("sent");
    stranger.read_answer().expect("an answer").is_refusal(401, "unauthenticated");
}

#[test]
fn the_server_does_not_listen_to_the_world_without_a_key() {
    let exit = Launch::default().args(&["--listen", "0.0.0.0:0"]).run();
    assert!(!exit.status.success(), "{}", exit.output);
    for word in ["--api-key-file", "--insecure"] {
        assert!(exit.output.contains(word), "no {word} in: {}", exit.output);
    }
}

#[test]
fn a_key_file_that_makes_no_sense_is_refused() {
    let home = TempDir::new().expect("a folder");
    let files = [
        written(&home, "empty", "\n# nothing\n\n", 0o600),
        written(&home, "too-short", "first:guessable\n", 0o600),
        written(&home, "twice", &format!("first:{FIRST}\nsecond:{FIRST}\n"), 0o600),
        written(&home, "namesakes", &format!("first:{FIRST}\nfirst:{SECOND}\n"), 0o600),
        written(&home, "open-to-all", &format!("first:{FIRST}\n"), 0o644),
        written(&home, "unnamed", &format!("first:{SECOND}\n{FIRST}\n"), 0o600),
        home.path().join("missing"),
    ];
    for file in files {
        let exit = Launch::default().args(&["--api-key-file", &file.to_string_lossy()]).run();
        assert!(!exit.status.success(), "{} was taken: {}", file.display(), exit.output);
        assert!(exit.output.contains("key"), "{}: {}", file.display(), exit.output);
        assert!(!exit.output.contains(FIRST), "the secret is shown: {}", exit.output);
    }
}

#[test]
fn no_key_and_no_argument_is_ever_shown_even_by_the_most_talkative_log() {
    const ARGUMENT: &str = "canary-argument-5512";
    const RESULT: &str = "canary-result-7731";
    let mut server = guarded(&["--log", "json", "--log-level", "trace"]);
    let mut client = server.client();
    client.create(&job("a.b").args(json!([ARGUMENT])).with("meta", json!({"note": ARGUMENT})));
    let delivery = client.fetch_one("default");
    client.post("/ojs/v1/workers/ack", &json!({"job_id": delivery.id, "result": RESULT})).is(200);
    client.send(&Request::post("/ojs/v1/jobs", "{nope")).is(400);
    let mut shown = vec![client.get("/metrics").body, client.get("/ojs/manifest").body];
    let mut stranger = Client::new(server.address()).with_key(WRONG);
    shown.push(stranger.enqueue(&job("a.b")).is(401).body.clone());
    shown.push(stranger.get("/nowhere").body);
    server.signal("TERM");
    server.wait(e2e::clock::SOON);
    shown.push(server.log());
    for secret in [FIRST, SECOND, WRONG, ARGUMENT, RESULT] {
        for text in &shown {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}
