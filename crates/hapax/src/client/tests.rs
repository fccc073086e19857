//! Requests as a server sees them, answers as a command sees them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::thread::{self, JoinHandle};

use super::*;

const SECRET: &str = "0123456789abcdef";

/// A server that gives one answer to one request, and hands the request back.
fn once(answer: &'static str) -> (ServerUrl, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = ServerUrl::parse(&format!("http://{}/jobs/", listener.local_addr().unwrap())).unwrap();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = request(&mut stream);
        stream.write_all(answer.as_bytes()).unwrap();
        request
    });
    (url, served)
}

/// A request up to the end of its head, or of the only body that these tests send.
fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_whole =
            if text.starts_with("POST") { text.ends_with('}') } else { text.ends_with("\r\n\r\n") };
        if is_whole {
            return text;
        }
        let mut piece = [0; 1024];
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "broke off after {text}");
        bytes.extend_from_slice(&piece[..read]);
    }
}

fn client(url: ServerUrl) -> Client {
    Client::new(url, Some(&Secret::new(SECRET))).unwrap()
}

#[test]
fn a_request_shows_the_key_and_goes_under_the_path_of_the_address() {
    let (url, served) = once("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}");
    let path = ApiPath::new("/ojs/v1/unique/keys").segment("a b");
    let reply = client(url).post(&path, b"{\"job\":1}".to_vec()).unwrap();
    assert_eq!(reply.text(), "{\"a\": 1}");
    let request = served.join().unwrap();
    assert!(request.starts_with("POST /jobs/ojs/v1/unique/keys/a%20b HTTP/1.1\r\n"), "{request}");
    for line in
        ["host: 127.0.0.1:", "authorization: Bearer 0123456789abcdef\r\n", "content-type: application/json"]
    {
        assert!(request.contains(line), "no {line} in {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"job\":1}"), "{request}");
}

#[test]
fn an_answer_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    #[derive(Debug, serde::Deserialize)]
    struct Wanted {
        #[serde(rename = "key")]
        _key: String,
    }
    let (url, served) = once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    let failure = client(url).get(&ApiPath::new("/x")).unwrap().read::<Wanted>().unwrap_err();
    assert!(failure.sentence().contains("could not read the answer of http://127.0.0.1:"), "{failure}");
    assert!(failure.sentence().contains("missing field `key`"), "{failure}");
    served.join().unwrap();
}

#[test]
fn a_broken_connection_and_a_foreign_protocol_are_told_apart() {
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "did not answer: the answer broke off"),
        ("", "did not answer: the connection broke"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "does not answer in HTTP"),
    ] {
        let (url, served) = once(answer);
        let failure = client(url).delete(&ApiPath::new("/x")).unwrap_err();
        assert!(failure.sentence().contains(expected), "{failure}");
        served.join().unwrap();
    }
}

#[test]
fn an_error_of_the_server_is_a_failure_of_the_command() {
    let (url, served) = once(
        "HTTP/1.1 404 Not Found\r\nContent-Length: 50\r\n\r\n{\"error\":{\"code\":\"not_found\",\"message\":\"nothing\"}} ",
    );
    let failure = client(url).get(&ApiPath::new("/x")).unwrap_err();
    assert_eq!(failure.sentence(), "the server refused (404 not_found): nothing");
    served.join().unwrap();
}

#[test]
fn nobody_listening_is_a_refused_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = ServerUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let expected = format!("could not reach {url}: connection refused");
    assert_eq!(client(url).get(&ApiPath::new("/x")).unwrap_err().sentence(), expected);
}

#[test]
fn the_key_is_the_first_of_its_file_with_or_without_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    for (text, expected) in [
        (SECRET, SECRET),
        ("# ours\n\n worker: 0123 \nadmin:4567\n", "0123"),
        ("empty:\nadmin:4567\n", "4567"),
    ] {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(key_of_file(&path).unwrap_or_else(|failure| panic!("{failure}")).reveal(), expected);
    }
    fs::write(&path, "# none\n").unwrap();
    let failure = key_of_file(&path).err().unwrap();
    assert!(failure.sentence().ends_with("there is no key in it"), "{failure}");
}

#[test]
fn a_key_is_never_shown() {
    let client = client(ServerUrl::parse("http://host").unwrap());
    assert!(!format!("{client:?}").contains("0123"));
    let broken = Secret::new("0123456789\n");
    let failure = Client::new(ServerUrl::parse("http://host").unwrap(), Some(&broken)).unwrap_err();
    assert!(!failure.to_string().contains("0123"), "{failure}");
}
