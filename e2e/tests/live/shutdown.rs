//! A server that stops, and those who listen.

use std::time::Duration;

use e2e::clock::{self, SOON};
use e2e::{Listener, Server, job};

#[test]
fn listeners_are_told_and_hold_nothing_up() {
    let mut server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let paths = [
        "/ojs/v1/events/stream".to_owned(),
        "/ojs/v1/queues/default/events".to_owned(),
        format!("/ojs/v1/jobs/{id}/events"),
    ];
    let mut streams: Vec<Listener> = paths.iter().map(|path| Listener::open(&server, path)).collect();
    let before = clock::now();
    server.signal("TERM");
    for stream in &mut streams {
        let heard = stream.until("server.shutdown");
        assert_eq!(heard.data["grace_period_ms"], 5000);
        assert!(heard.data["reason"].is_string() && !heard.id.is_empty(), "{heard:?}");
        assert_eq!(stream.event(), None);
    }
    assert_eq!(server.wait(SOON).code(), Some(0));
    assert!(before.elapsed() < Duration::from_secs(5), "it took {:?}", before.elapsed());
}
