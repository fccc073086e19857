//! Stopping: what was begun is finished, and the end is a success.

use std::thread;
use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Server, job, together};

#[test]
fn sigterm_and_sigint_end_the_server_with_success() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start();
        server.client().create(&job("a.b"));
        server.signal(signal);
        let status = server.wait(SOON);
        assert_eq!(status.code(), Some(0), "{signal}: {status}");
    }
}

#[test]
fn an_idle_connection_does_not_hold_the_server_up() {
    let mut server = Server::start();
    let mut idle = server.client();
    idle.get("/ojs/v1/health").is(200);
    let before = clock::now();
    server.signal("TERM");
    server.wait(SOON);
    assert!(before.elapsed() < Duration::from_secs(5), "it took {:?}", before.elapsed());
    assert!(idle.is_closed_within(SOON));
}

#[test]
fn requests_under_way_are_answered_and_what_was_answered_is_kept() {
    let mut server = Server::start();
    let accepted = thread::scope(|scope| {
        let load = scope.spawn(|| {
            together(4, |_| {
                let mut client = server.client();
                let mut accepted = Vec::new();
                let request = e2e::Request::post("/ojs/v1/jobs", job("a.b").text());
                // Until the server hangs up, or says that it is leaving.
                while let Ok(answer) = client.try_send(&request) {
                    if answer.status != 201 {
                        answer.is_refusal(503, "backend_unavailable");
                        assert!(answer.header("retry-after").is_some());
                        break;
                    }
                    accepted.push(answer.id());
                }
                accepted
            })
        });
        let mut watcher = server.client();
        clock::until("the load is on", SOON, || watcher.count("default", "available") > 50);
        server.signal("TERM");
        load.join().expect("the load").concat()
    });
    assert_eq!(server.wait(SOON).code(), Some(0));
    server.start_again();
    let mut client = server.client();
    for id in &accepted {
        assert_eq!(client.state(id), "available");
    }
    assert!(client.count("default", "available") >= accepted.len() as u64);
}

#[test]
fn a_stopped_server_starts_again_on_the_same_address() {
    let mut server = Server::start();
    let address = server.address().to_string();
    server.signal("TERM");
    server.wait(SOON);
    server.start_again_as(e2e::Launch::default().args(&["--listen", &address]));
    let mut client = e2e::Client::new(address.parse().expect("an address"));
    client.get("/ojs/v1/health").is(200);
}

#[test]
fn a_second_signal_does_not_wait_for_those_who_never_finish() {
    let mut server = Server::start();
    let mut stuck = server.client();
    let head = "POST /ojs/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{";
    stuck.write(head.as_bytes()).expect("sent");
    server.client().get("/ojs/v1/health").is(200);
    server.signal("TERM");
    let mut other = server.client();
    clock::until("the server takes no more requests", SOON, || {
        other.try_send(&e2e::Request::new("GET", "/ojs/v1/health")).is_err()
    });
    let before = clock::now();
    if server.exit_status().is_none() {
        server.signal("TERM");
    }
    server.wait(SOON);
    assert!(before.elapsed() < Duration::from_secs(5), "it took {:?}", before.elapsed());
}
