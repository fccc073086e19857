//! Streams of server-sent events: what they tell, and from where on.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use e2e::{Launch, Listener, Request, Server, Told, clock, job, together};
use serde_json::Value;
use tempfile::TempDir;

use crate::life;

fn step(heard: &Told) -> String {
    let text = |name: &str| heard.data[name].as_str().unwrap_or("–").to_owned();
    format!("{} {} → {}", heard.event, text("from"), text("to"))
}

#[test]
fn a_job_is_told_of_from_now_to_its_end() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let mut stream = Listener::open(&server, &format!("/ojs/v1/jobs/{id}/events"));
    assert!(stream.head.contains("content-type: text/event-stream\r\n"), "{}", stream.head);
    let opening = stream.block().unwrap_or_default();
    assert!(opening.starts_with("retry: 3000\nid: evt_"), "{opening}");
    life(&mut client, "other");
    let delivery = client.fetch_one("default");
    client.nack(&delivery).is(200);
    client.cancel(&id).is(200);
    let told: Vec<Told> = std::iter::from_fn(|| stream.event()).collect();
    let steps: Vec<String> = told.iter().map(step).collect();
    let expected = [
        "job.state_changed available → active",
        "job.started available → active",
        "job.failed – → –",
        "job.state_changed active → retryable",
        "job.retrying active → retryable",
        "job.state_changed retryable → cancelled",
        "job.cancelled retryable → cancelled",
    ];
    // Its enqueueing may just have been on its way when the stream began.
    assert_eq!(steps[steps.len() - expected.len()..], expected, "{steps:?}");
    assert!(told.iter().all(|heard| heard.data["job_id"] == *id && heard.data["type"] == "a.b"));
    assert!(told.is_sorted_by(|one, two| one.id < two.id), "{told:?}");
}

#[test]
fn a_job_that_has_ended_is_told_of_once() {
    let server = Server::start();
    let id = life(&mut server.client(), "default");
    for path in [format!("/ojs/v1/jobs/{id}/events"), format!("/ojs/v1/events/stream?channel=job:{id}")] {
        let mut stream = Listener::open(&server, &path);
        // Its life may still have been on its way when the stream began; then that is what tells its end.
        let told: Vec<_> = std::iter::from_fn(|| stream.event()).collect();
        let ends = |heard: &&Told| heard.data["to"] == "completed";
        let changes = told.iter().filter(ends).filter(|heard| heard.event == "job.state_changed");
        assert_eq!(changes.count(), 1, "{told:?}");
        assert!(told.last().as_ref().is_some_and(ends), "and nothing comes after its end: {told:?}");
    }
}

#[test]
fn a_queue_is_told_of_with_filters() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").on("mail"));
    let mut mail =
        Listener::open(&server, "/ojs/v1/queues/mail/events?event_types=job.enqueued,queue.paused");
    let mut kinds = Listener::open(&server, "/ojs/v1/events/stream?channel=all&job_types=a.c&types=job.*");
    for (kind, queue) in [("a.b", "other"), ("a.c", "mail"), ("a.c", "other")] {
        client.create(&job(kind).on(queue));
    }
    client.send(&Request::new("POST", "/ojs/v1/queues/mail/pause")).is(200);
    let mut heard = mail.event().expect("an event");
    if heard.data["type"] == "a.b" {
        heard = mail.event().expect("an event");
    }
    assert_eq!((heard.event.as_str(), &heard.data["job_type"]), ("job.enqueued", &Value::from("a.c")));
    assert_eq!(mail.event().expect("an event").event, "queue.paused");
    let queues: Vec<Value> = (0..4).map(|_| kinds.event().expect("an event").data["queue"].clone()).collect();
    assert_eq!(queues, ["mail", "mail", "other", "other"]);
}

#[test]
fn what_is_not_there_cannot_be_listened_to() {
    let server = Server::start();
    let mut client = server.client();
    let missing = "01900000-0000-7000-8000-000000000000";
    for path in [
        format!("/ojs/v1/jobs/{missing}/events"),
        "/ojs/v1/queues/never/events".to_owned(),
        format!("/ojs/v1/events/stream?channel=job%3A{missing}"),
    ] {
        client.get(&path).is_refusal(404, "not_found");
    }
    let refused = client.get("/ojs/v1/events/stream?channel=nonsense");
    assert!(refused.is_refusal(400, "invalid_request").message().contains("queue:{name}"));
    let head = Listener::send(server.address(), &Request::new("HEAD", "/ojs/v1/events/stream"));
    assert_eq!(head.status, 200, "and whoever asks for the head gets it at once");
}

#[test]
fn a_stream_wants_the_key_that_everything_wants() {
    const KEY: &str = "secret-key-of-this-test";

    let home = TempDir::new().expect("a folder");
    let file = home.path().join("keys");
    std::fs::write(&file, format!("test:{KEY}\n")).expect("written");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("ours alone");
    let server = Launch::default().args(&["--api-key-file", &file.to_string_lossy()]).key(KEY).start();
    let request = Request::new("GET", "/ojs/v1/events/stream");
    assert_eq!(Listener::send(server.address(), &request).status, 401);
    let keyed = request.header("Authorization", &format!("Bearer {KEY}"));
    let mut stream = Listener::send(server.address(), &keyed);
    let id = server.client().create(&job("a.b"));
    assert_eq!(stream.until("job.enqueued").data["job_id"], id);
}

#[test]
fn who_comes_back_again_and_again_misses_nothing_and_hears_nothing_twice() {
    const JOBS: usize = 600;

    let server = Server::start();
    server.client().create(&job("a.b").on("other"));
    std::thread::scope(|scope| {
        let mut stream = Listener::open(&server, "/ojs/v1/events/stream?types=job.enqueued&queues=default");
        let cursor = stream.block().unwrap_or_default();
        let mut last = cursor.lines().find_map(|line| line.strip_prefix("id: ")).expect("a place").to_owned();
        let load = scope.spawn(|| {
            let created = together(3, |_| {
                let mut client = server.client();
                (0..JOBS / 3).map(|_| client.create(&job("a.b"))).collect::<Vec<String>>()
            });
            created.concat()
        });
        let mut told: Vec<String> = Vec::new();
        while told.len() < JOBS {
            // Cut off after a few events, wherever that is.
            for _ in 0..=(told.len() % 7) {
                let heard = stream.event().expect("the stream goes on");
                assert_eq!(heard.event, "job.enqueued", "no gap");
                told.push(heard.data["job_id"].as_str().unwrap_or_default().to_owned());
                last = heard.id;
                if told.len() == JOBS {
                    break;
                }
            }
            let path = "/ojs/v1/events/stream?types=job.enqueued&queues=default";
            stream = Listener::open_after(&server, path, &last);
        }
        let mut created = load.join().expect("the load");
        created.sort();
        told.sort();
        assert_eq!(told, created);
    });
}

#[test]
fn after_a_restart_there_is_a_gap_and_then_what_happened_since() {
    let mut server = Server::start();
    let mut stream = Listener::open(&server, "/ojs/v1/events/stream");
    server.client().create(&job("a.b"));
    let last = stream.until("job.enqueued").id;
    server.crash_and_restart();
    let id = server.client().create(&job("a.c"));
    let mut back = Listener::open_after(&server, "/ojs/v1/queues/default/events", &last);
    let gap = back.event().expect("a gap");
    assert_eq!((gap.event.as_str(), &gap.data["channel"]), ("system.gap", &Value::from("queue:default")));
    assert_eq!(back.until("job.enqueued").data["job_id"], id);
}

#[test]
fn many_listeners_hear_everything_and_leave_no_trace() {
    const LISTENERS: usize = 300;

    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b"));
    let mut crowd: Vec<Listener> =
        (0..LISTENERS).map(|_| Listener::open(&server, "/ojs/v1/queues/default/events")).collect();
    assert!(client.get("/metrics").body.contains(&format!("\nojs_streams {LISTENERS}\n")));
    let ids: Vec<String> = (0..20).map(|_| client.create(&job("a.c"))).collect();
    for listener in &mut crowd {
        let mut told = Vec::new();
        while told.len() < ids.len() {
            let heard = listener.until("job.enqueued");
            if heard.data["type"] == "a.c" {
                told.push(heard.data["job_id"].as_str().unwrap_or_default().to_owned());
            }
        }
        assert_eq!(told, ids);
    }
    drop(crowd);
    clock::until("the places are free again", clock::SOON, || {
        client.get("/metrics").body.contains("\nojs_streams 0\n")
    });
}
