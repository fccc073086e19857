//! Streams of events over real connections: how they share the server, and how they leave it.

use hapax_broker::Broker;
use hapax_core::QueueName;

use super::*;

/// A server to which events are brought, and its broker.
async fn start(limits: Limits) -> (Running, Broker) {
    let rig = Rig::with(testing::Setup { limits: limits.clone(), ..testing::Setup::default() });
    rig.herald();
    let broker = rig.shared.broker.clone();
    (serve(rig, &limits).await, broker)
}

async fn happen(broker: &Broker, times: usize) {
    for _ in 0..times {
        broker.pause(QueueName::default_queue()).await.unwrap();
    }
}

impl Client {
    async fn listen(address: SocketAddr) -> Client {
        let mut client = Client::connect(address).await;
        client.send("GET /ojs/v1/events/stream HTTP/1.1\r\nHost: x\r\n\r\n").await;
        client.hears("retry: 3000\n").await;
        client
    }

    /// Everything up to these words.
    async fn hears(&mut self, words: &str) -> String {
        let mut seen = Vec::new();
        let heard = timeout(PATIENCE, async {
            while !seen.windows(words.len()).any(|window| window == words.as_bytes()) {
                assert_ne!(self.0.read_buf(&mut seen).await.unwrap(), 0, "closed");
            }
        });
        heard.await.unwrap_or_else(|_| panic!("never heard {words:?}"));
        String::from_utf8_lossy(&seen).into_owned()
    }
}

#[tokio::test]
async fn streams_do_not_take_the_places_of_requests() {
    let (server, broker) = start(Limits { connections: 2, ..Limits::default() }).await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(Client::listen(server.address).await);
    }
    for _ in 0..3 {
        Client::connect(server.address).await.is_well().await;
    }
    happen(&broker, 1).await;
    for stream in &mut streams {
        stream.hears("event: queue.paused\n").await;
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_gives_its_place_back() {
    let (server, _broker) = start(Limits { streams: 1, ..Limits::default() }).await;
    drop(Client::listen(server.address).await);
    // The server notices by itself, without anything happening.
    let freed = timeout(PATIENCE, async {
        loop {
            let mut client = Client::connect(server.address).await;
            client.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
            if client.answer().await.1.contains("\nojs_streams 0\n") {
                return;
            }
        }
    });
    freed.await.expect("the place is free again");
    Client::listen(server.address).await;
}

#[tokio::test]
async fn a_stream_ends_with_a_word_when_the_server_stops() {
    let (server, _broker) = start(Limits::default()).await;
    let mut first = Client::listen(server.address).await;
    let mut second = Client::connect(server.address).await;
    second.0.write_all(&http_2_request("GET", "/ojs/v1/events/stream", "")).await.unwrap();
    second.hears("retry: 3000\n").await;
    server.stop.send(()).unwrap();
    for (client, end) in [(&mut first, "}\n\n\r\n0\r\n\r\n"), (&mut second, "}\n\n")] {
        let heard = client.hears(end).await;
        assert!(heard.contains("event: server.shutdown\n"), "{heard}");
        assert!(heard.contains(r#"{"reason":"shutdown","grace_period_ms":5000}"#), "{heard}");
    }
    // This client does not answer when it is asked whether it has heard that the connection ends.
    drop(second);
    timeout(PATIENCE, server.ended).await.expect("streams hold nothing up").unwrap().unwrap();
}

/// Time stands still once the client is stuck, and passes as soon as there is nothing to do but wait for it.
#[tokio::test]
async fn a_client_that_does_not_take_the_last_words_holds_nothing_up() {
    let (server, broker) = start(Limits::default()).await;
    let stuck = Client::listen(server.address).await;
    happen(&broker, 90_000).await;
    // Streams have a pace: it takes a while until the client has been sent more than it could take.
    let _moment = timeout(Duration::from_secs(4), std::future::pending::<()>()).await;
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    server.stop.send(()).unwrap();
    server.ended.await.unwrap().unwrap();
    let took = before.elapsed();
    assert!((Duration::from_secs(5)..Duration::from_secs(8)).contains(&took), "{took:?}");
    drop(stuck);
}

#[tokio::test]
async fn http_2_carries_streams() {
    let (server, broker) = start(Limits::default()).await;
    let request = http_2_request("GET", "/ojs/v1/queues/default/events", "");
    let mut client = Client::connect(server.address).await;
    client.0.write_all(&request).await.unwrap();
    client.hears("not_found").await;
    happen(&broker, 1).await;
    let mut client = Client::connect(server.address).await;
    client.0.write_all(&request).await.unwrap();
    client.hears("retry: 3000\n").await;
    happen(&broker, 1).await;
    client.hears("event: queue.paused\n").await;
}
