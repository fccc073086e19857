//! The carrier against small servers on this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Mutex;

use hapax_core::webhook::Endpoint;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::resolver::Resolved;

/// Answers every name in its own way, and counts.
#[derive(Debug)]
struct Fixed(Mutex<Vec<Vec<SocketAddr>>>);

impl Resolver for Fixed {
    fn resolve(&self, _name: &str, _port: u16) -> Resolved {
        let next = self.0.lock().unwrap().pop().expect("a name is resolved once for each delivery");
        Box::pin(async move { Ok(next) })
    }
}

fn letter(url: &str) -> Letter {
    Letter {
        endpoint: Endpoint::parse(url, Reach::Everywhere).unwrap(),
        event_type: "job.completed".into(),
        delivery: "del_1".into(),
        subscription: "sub_1".into(),
        timestamp: 1_708_030_665,
        signature: "sha256=00".into(),
        body: r#"{"id":"evt_1"}"#.into(),
    }
}

/// A server that reads one request and answers with this text; gives back what it read.
async fn server(answer: &'static str) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"evt_1\"}") {
            let mut part = [0; 1024];
            let length = stream.read(&mut part).await.unwrap();
            heard.extend_from_slice(&part[..length]);
            assert!(length > 0, "the request ends early");
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(heard).unwrap()
    });
    (address, heard)
}

fn everywhere() -> HttpCarrier {
    HttpCarrier::new(Reach::Everywhere, "1.2.3")
}

#[tokio::test]
async fn a_letter_arrives_with_its_headers_and_its_very_body() {
    let (address, heard) = server("HTTP/1.1 204 No Content\r\n\r\n").await;
    let response = everywhere().carry(letter(&format!("http://{address}/hook?a=b"))).await;
    assert_eq!(response, Response::Answered { status: 204, retry_after: None });
    let heard = heard.await.unwrap();
    assert!(heard.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{heard}");
    for header in [
        &format!("host: {address}"),
        "content-type: application/json",
        "user-agent: hapax/1.2.3 OJS-Webhook/1.0",
        "x-ojs-event-type: job.completed",
        "x-ojs-delivery-id: del_1",
        "x-ojs-subscription-id: sub_1",
        "x-ojs-timestamp: 1708030665",
        "x-ojs-signature: sha256=00",
    ] {
        assert!(heard.contains(&format!("\r\n{header}\r\n")), "{header} is not in {heard}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let (hidden, heard) = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let answer = format!("HTTP/1.1 302 Found\r\nlocation: http://{hidden}/\r\ncontent-length: 0\r\n\r\n");
    let (address, _) = server(answer.leak()).await;
    let response = everywhere().carry(letter(&format!("http://{address}/"))).await;
    assert_eq!(response, Response::Answered { status: 302, retry_after: None });
    assert!(!heard.is_finished(), "nobody called there");
}

#[tokio::test]
async fn the_address_that_was_looked_at_is_the_one_that_is_called() {
    // The second look would lead to a neighbour; there is none.
    let (address, _) = server("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let resolver = Arc::new(Fixed(Mutex::new(vec![vec![address]])));
    let carrier = HttpCarrier::with_resolver(Reach::Everywhere, "1", resolver);
    let response = carrier.carry(letter("http://rebind.example.com/")).await;
    assert_eq!(response.status(), Some(200));
}

#[tokio::test]
async fn one_address_of_a_neighbour_among_many_is_enough_to_go_nowhere() {
    let neighbour = |last| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), 9);
    let public: SocketAddr = "93.184.216.34:9".parse().unwrap();
    let metadata: SocketAddr = "[::ffff:169.254.169.254]:80".parse().unwrap();
    for addresses in [vec![neighbour(1)], vec![public, neighbour(2)], vec![metadata], vec![public, metadata]]
    {
        let resolver = Arc::new(Fixed(Mutex::new(vec![addresses])));
        let carrier = HttpCarrier::with_resolver(Reach::Public, "1", resolver);
        let response = carrier.carry(letter("http://innocent.example.com/")).await;
        let refused = Response::Failed("the host has an address that is not on the open internet".into());
        assert_eq!(response, refused);
    }
    let carrier = HttpCarrier::new(Reach::Public, "1");
    let response = carrier.carry(letter("http://127.0.0.1:9/")).await;
    assert!(matches!(response, Response::Failed(_)), "a stored subscription is not trusted either");
}

#[tokio::test]
async fn an_endless_body_is_cut_and_the_answer_counts() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let flood = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let mut sent: u64 = 0;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {
            sent += 4096;
        }
        sent
    });
    let response = everywhere().carry(letter(&format!("http://{address}/"))).await;
    assert_eq!(response.status(), Some(200));
    assert!(flood.await.unwrap() < 64 << 20, "the connection was closed");
}

#[tokio::test]
async fn an_endless_head_and_nonsense_are_no_answers() {
    for nonsense in ["HTTP/1.1 200 OK\r\nx: ", "SSH-2.0-OpenSSH_9.6\r\n", ""] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            drop(stream.write_all(nonsense.as_bytes()).await);
            for _ in 0..16 {
                drop(stream.write_all(&[b'x'; 4096]).await);
            }
        });
        let response = everywhere().carry(letter(&format!("http://{address}/"))).await;
        assert!(matches!(response, Response::Failed(_)), "{nonsense:?}: {response:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_within_half_a_minute_has_not_answered() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let start = tokio::time::Instant::now();
    let response = everywhere().carry(letter(&format!("http://{address}/"))).await;
    assert_eq!(response, Response::Failed("there was no answer within 30 seconds".into()));
    assert_eq!(start.elapsed().as_secs(), 30);
}

#[tokio::test]
async fn encryption_is_not_made_up_by_an_endpoint_that_has_none() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest).await);
    });
    let response = everywhere().carry(letter(&format!("https://{address}/"))).await;
    assert_eq!(response, Response::Failed("the encrypted connection could not be made".into()));
}

#[test]
fn only_who_may_go_to_neighbours_knows_them_by_their_short_names() {
    let knowing = |reach| format!("{:?}", HttpCarrier::new(reach, "1"));
    assert!(knowing(Reach::Everywhere).contains("NeighbourResolver"));
    assert!(knowing(Reach::Public).contains("SystemResolver"));
}
