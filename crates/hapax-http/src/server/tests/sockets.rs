//! WebSockets over real connections.

use futures_util::{SinkExt as _, StreamExt as _};
use hapax_broker::{Broker, EVENTS_KEPT};
use hapax_core::QueueName;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::*;
use crate::limits::{SOCKET_CHANNELS_MAX, SOCKET_MESSAGE_BYTES_MAX, SOCKET_PING_INTERVAL, SOCKET_PONG_TIME};

async fn start(limits: Limits) -> (Running, Broker) {
    let rig = Rig::with(testing::Setup { limits: limits.clone(), ..testing::Setup::default() });
    rig.herald();
    let broker = rig.shared.broker.clone();
    (serve(rig, &limits).await, broker)
}

struct Socket(WebSocketStream<TcpStream>);

async fn open(server: &Running, headers: &[(&'static str, &str)]) -> Result<(Socket, Response), Error> {
    let mut request = format!("ws://{}/ojs/v1/ws", server.address).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(server.address).await.unwrap();
    client_async(request, stream).await.map(|(wire, response)| (Socket(wire), response))
}

async fn connect(server: &Running) -> Socket {
    open(server, &[("sec-websocket-protocol", "ojs.v1")]).await.unwrap().0
}

impl Socket {
    async fn next(&mut self) -> Message {
        timeout(PATIENCE, self.0.next()).await.expect("a message in time").unwrap().unwrap()
    }

    async fn hears(&mut self) -> Value {
        let message = self.next().await;
        serde_json::from_str(message.to_text().unwrap()).unwrap_or_else(|error| panic!("{error}: {message}"))
    }

    /// Says something, and hears the answer.
    async fn says(&mut self, words: &Value) -> Value {
        self.0.send(Message::text(words.to_string())).await.unwrap();
        self.hears().await
    }
}

async fn pause(broker: &Broker, queue: &str) {
    broker.pause(QueueName::parse(queue).unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_client_says_what_it_wants_to_hear_and_hears_it() {
    let (server, broker) = start(Limits::default()).await;
    pause(&broker, "mail").await;
    let (mut socket, response) = open(&server, &[("sec-websocket-protocol", "other, ojs.v1")]).await.unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "ojs.v1");
    assert!(response.headers().contains_key("x-request-id"));
    let answer = socket.says(&json!({"action": "subscribe", "channel": "queue:mail"})).await;
    let expected = json!({
        "type": "subscribed", "action": "subscribed", "channel": "queue:mail", "subscription_id": "sub_1"
    });
    assert_eq!(answer, expected);
    pause(&broker, "other").await;
    pause(&broker, "mail").await;
    let heard = socket.hears().await;
    assert_eq!(heard["type"], "event");
    assert_eq!((&heard["event"], &heard["channel"]), (&json!("queue.paused"), &json!("queue:mail")));
    assert_eq!((&heard["data"]["queue"], &heard["timestamp"]), (&json!("mail"), &heard["data"]["timestamp"]));
    assert!(heard["id"].as_str().unwrap().starts_with("evt_"), "{heard}");
    let answer = socket.says(&json!({"action": "unsubscribe", "channel": "queue:mail"})).await;
    assert_eq!((&answer["type"], &answer["channel"]), (&json!("unsubscribed"), &json!("queue:mail")));
    pause(&broker, "mail").await;
    let answer = socket.says(&json!({"action": "unsubscribe", "channel": "queue:mail"})).await;
    assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!("not_found")));
}

#[tokio::test]
async fn a_second_wish_for_a_channel_replaces_the_filter() {
    let (server, broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    let wish = |types: &[&str]| json!({"action": "subscribe", "channel": "all", "event_types": types});
    let answer = socket.says(&wish(&["queue.resumed"])).await;
    assert_eq!(answer["event_types"], json!(["queue.resumed"]));
    pause(&broker, "a").await;
    let answer = socket.says(&wish(&["queue.paused", "queue.resumed"])).await;
    assert_eq!(answer["event_types"], json!(["queue.paused", "queue.resumed"]));
    assert_eq!(answer["subscription_id"], "sub_1");
    pause(&broker, "b").await;
    let mut heard = socket.hears().await;
    // Whether the first pause was read before the filter changed is a matter of time.
    if heard["data"]["queue"] == "a" {
        heard = socket.hears().await;
    }
    assert_eq!(heard["data"]["queue"], "b");
}

#[tokio::test]
async fn the_channel_of_all_events_has_their_envelopes() {
    let (server, broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    let filter = json!({"event_types": ["queue.*"], "queues": ["mail"]});
    let answer = socket.says(&json!({"action": "subscribe", "channel": "events", "filter": filter})).await;
    assert_eq!((&answer["action"], &answer["channel"]), (&json!("subscribed"), &json!("events")));
    pause(&broker, "other").await;
    pause(&broker, "mail").await;
    let heard = socket.hears().await;
    assert_eq!((&heard["type"], &heard["specversion"]), (&json!("queue.paused"), &json!("1.0")));
    assert_eq!((&heard["subject"], &heard["subscription_id"]), (&json!("mail"), &answer["subscription_id"]));
    let gone = json!({"action": "unsubscribe", "subscription_id": answer["subscription_id"]});
    assert_eq!(socket.says(&gone).await["channel"], "events");
}

#[tokio::test]
async fn who_comes_back_goes_on_from_an_event_in_any_order() {
    let (server, broker) = start(Limits::default()).await;
    let mut first = connect(&server).await;
    first.says(&json!({"action": "subscribe", "channel": "all"})).await;
    pause(&broker, "a").await;
    let last = first.hears().await["id"].clone();
    drop(first);
    pause(&broker, "b").await;
    let subscribe = json!({"action": "subscribe", "channel": "all"});
    let resume = json!({"action": "resume", "last_event_id": last});
    for (one, other) in [(&subscribe, &resume), (&resume, &subscribe)] {
        let mut back = connect(&server).await;
        let answers = [back.says(one).await, back.says(other).await];
        let resumed = answers.iter().find(|answer| answer["type"] == "resumed").unwrap();
        assert_eq!(resumed["last_event_id"], last);
        assert_eq!(back.hears().await["data"]["queue"], "b");
    }
    let mut back = connect(&server).await;
    back.says(&json!({"action": "subscribe", "channel": "queue:b", "last_event_id": last})).await;
    assert_eq!(back.hears().await["data"]["queue"], "b");
    let unknown = back.says(&json!({"action": "resume", "last_event_id": "evt_0042"})).await;
    assert_eq!((&unknown["type"], &unknown["code"]), (&json!("error"), &json!("unknown_event_id")));
    assert_eq!(unknown["details"]["last_event_id"], "evt_0042");
    pause(&broker, "b").await;
    assert_eq!(back.hears().await["event"], "queue.paused", "and goes on with what it listens to");
}

#[tokio::test]
async fn a_channel_goes_on_from_an_event_once() {
    let (server, broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    let subscribe = |channel: &str| json!({"action": "subscribe", "channel": channel});
    let unsubscribe = json!({"action": "unsubscribe", "channel": "all"});
    socket.says(&subscribe("all")).await;
    pause(&broker, "a").await;
    let last = socket.hears().await["id"].clone();
    socket.says(&json!({"action": "resume", "last_event_id": last})).await;
    pause(&broker, "b").await;
    assert_eq!(socket.hears().await["data"]["queue"], "b");
    socket.says(&unsubscribe).await;
    assert_eq!(socket.says(&subscribe("all")).await["type"], "subscribed");
    pause(&broker, "c").await;
    assert_eq!(socket.hears().await["data"]["queue"], "c", "it has heard of the other");
}

#[tokio::test]
async fn what_is_not_there_any_longer_does_not_keep_others_from_going_on() {
    let rig = Rig::new();
    rig.herald();
    let (broker, limits) = (rig.shared.broker.clone(), Limits::default());
    let id = rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let server = serve(rig, &limits).await;
    let mut socket = connect(&server).await;
    for channel in [format!("job:{id}"), "all".to_owned()] {
        socket
            .says(&json!({"action": "subscribe", "channel": channel, "event_types": ["queue.paused"]}))
            .await;
    }
    pause(&broker, "a").await;
    let last = socket.hears().await["id"].clone();
    let id: hapax_core::JobId = id.parse().unwrap();
    broker.cancel(id).await.unwrap();
    broker.delete(id).await.unwrap();
    let resumed = socket.says(&json!({"action": "resume", "last_event_id": last})).await;
    assert_eq!((&resumed["type"], &resumed["channels"]), (&json!("resumed"), &json!(["all"])), "{resumed}");
    pause(&broker, "b").await;
    assert_eq!(socket.hears().await["data"]["queue"], "b");
}

#[tokio::test]
async fn the_channel_of_a_job_is_for_its_tenant() {
    let rig = Rig::new();
    rig.herald();
    let id = rig.enqueue(r#"{"type":"a","args":[],"meta":{"tenant_id":"acme"}}"#).await;
    let server = serve(rig, &Limits::default()).await;
    let subscribe = json!({"action": "subscribe", "channel": format!("job:{id}")});
    for (tenant, expected) in [("other", "error"), ("acme", "subscribed")] {
        let mut socket = open(&server, &[("x-ojs-tenant", tenant)]).await.unwrap().0;
        assert_eq!(socket.says(&subscribe).await["type"], expected, "{tenant}");
    }
}

#[tokio::test]
async fn bad_messages_are_answered_and_the_connection_stays() {
    let (server, _broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    for (words, code, part) in [
        ("{nope", "invalid_payload", "not JSON"),
        ("[]", "invalid_request", "a JSON object"),
        ("{}", "invalid_request", "action: is required"),
        (r#"{"action":"subscribee"}"#, "invalid_request", "did you mean \"subscribe\"?"),
        (r#"{"action":"subscribe"}"#, "invalid_request", "channel: is required"),
        (r#"{"action":"subscribe","channel":"everything"}"#, "invalid_request", "must be job:{id}"),
        (r#"{"action":"subscribe","channel":"job:x"}"#, "not_found", "no job"),
        (r#"{"action":"subscribe","channel":"queue:never"}"#, "not_found", "no queue"),
        (r#"{"action":"subscribe","channel":"all","event_type":["x"]}"#, "invalid_request", "event_types"),
        (
            r#"{"action":"subscribe","channel":"all","filter":{"queue":[]}}"#,
            "invalid_request",
            "filter.queue",
        ),
        (r#"{"action":"subscribe","channel":"all","event_types":"x"}"#, "invalid_request", "an array"),
        (r#"{"action":"resume"}"#, "invalid_request", "last_event_id: is required"),
        (r#"{"action":"unsubscribe","subscription_id":"sub_9"}"#, "not_found", "no such subscription"),
    ] {
        socket.0.send(Message::text(words)).await.unwrap();
        let answer = socket.hears().await;
        assert_eq!((&answer["type"], &answer["code"]), (&json!("error"), &json!(code)), "{words}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains(part), "{words}: {answer}");
    }
    socket.0.send(Message::binary(vec![1])).await.unwrap();
    assert_eq!(socket.hears().await["code"], "invalid_payload");
    let answer = socket.says(&json!({"action": "subscribe", "channel": "all"})).await;
    assert_eq!(answer["type"], "subscribed");
}

#[tokio::test]
async fn a_connection_listens_to_so_many_channels() {
    let (server, broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    for number in 0..=SOCKET_CHANNELS_MAX {
        pause(&broker, &format!("q{number}")).await;
        let answer =
            socket.says(&json!({"action": "subscribe", "channel": format!("queue:q{number}")})).await;
        let expected = if number < SOCKET_CHANNELS_MAX { "subscribed" } else { "error" };
        assert_eq!(answer["type"], expected, "{answer}");
    }
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_connection_with_a_reason() {
    let (server, _broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    let long = "x".repeat(SOCKET_MESSAGE_BYTES_MAX + 1);
    // The server may hang up while the rest of it is still under way.
    let _sent = socket.0.send(Message::text(long)).await;
    let Message::Close(Some(frame)) = socket.next().await else { panic!("a goodbye") };
    assert_eq!(frame.code, CloseCode::Size);
}

#[tokio::test]
async fn a_socket_takes_the_place_of_a_stream_and_gives_it_back() {
    let (server, _broker) = start(Limits { streams: 1, connections: 2, ..Limits::default() }).await;
    let socket = connect(&server).await;
    let Err(Error::Http(refused)) = open(&server, &[]).await else { panic!("refused") };
    assert_eq!(refused.status().as_u16(), 503);
    drop(socket);
    let again = timeout(PATIENCE, async { while open(&server, &[]).await.is_err() {} });
    again.await.expect("the place is free again");
}

#[tokio::test]
async fn pages_of_other_sites_may_not_listen() {
    let (server, _broker) = start(Limits::default()).await;
    let own = format!("http://{}", server.address);
    for (origin, status) in [(own.as_str(), 101), ("http://evil.example", 403), ("null", 403)] {
        let opened = match open(&server, &[("origin", origin)]).await {
            Ok((_, response)) => response.status().as_u16(),
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(opened, status, "{origin}");
    }
}

#[tokio::test]
async fn a_socket_ends_with_a_word_when_the_server_stops() {
    let (server, _broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    server.stop.send(()).unwrap();
    let words = socket.hears().await;
    assert_eq!(
        (&words["event"], &words["data"]["grace_period_ms"]),
        (&json!("server.shutdown"), &json!(5000))
    );
    let Message::Close(Some(frame)) = socket.next().await else { panic!("a goodbye") };
    assert_eq!(frame.code, CloseCode::Away);
    // The client's own goodbye is sent when it reads on.
    assert!(socket.0.next().await.is_none());
    timeout(PATIENCE, server.ended).await.expect("the server ends").unwrap().unwrap();
}

/// Time stands still once the connection is there, and passes when there is nothing else to do.
#[tokio::test]
async fn a_client_that_answers_no_ping_is_let_go() {
    let (server, _broker) = start(Limits::default()).await;
    let socket = connect(&server).await;
    let mut raw = socket.0.into_inner();
    let _moment = timeout(Duration::from_millis(50), std::future::pending::<()>()).await;
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    let mut seen = Vec::new();
    while raw.read_buf(&mut seen).await.unwrap() > 0 {}
    assert_eq!(seen, [0x89, 0], "one ping");
    let (took, longest) = (before.elapsed(), SOCKET_PING_INTERVAL + SOCKET_PONG_TIME);
    assert!(took <= longest && longest < took + Duration::from_secs(1), "{took:?}");
}

#[tokio::test]
async fn a_slow_client_is_warned_of_what_was_dropped() {
    let (server, broker) = start(Limits::default()).await;
    let mut socket = connect(&server).await;
    socket.says(&json!({"action": "subscribe", "channel": "all"})).await;
    // More than the connection, the log and what the lines keep beyond it can hold.
    for _ in 0..EVENTS_KEPT * 2 / 1000 {
        for _ in 0..1000 {
            pause(&broker, "q").await;
        }
        tokio::task::yield_now().await;
    }
    let dropped = loop {
        let heard = socket.hears().await;
        if heard["type"] == "warning" {
            break heard;
        }
        assert_eq!(heard["event"], "queue.paused");
    };
    assert_eq!((&dropped["code"], &dropped["channel"]), (&json!("events_dropped"), &json!("all")));
    let event = socket.hears().await;
    assert_eq!(event["event"], "system.events_dropped");
    assert_eq!(event["data"]["dropped_count"], dropped["count"]);
    assert_eq!(socket.hears().await["event"], "queue.paused");
}
