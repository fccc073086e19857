//! A client that listens to a stream of server-sent events, over a connection of its own.
//!
//! It takes the chunks of HTTP apart and leaves the rest as it came: how to read it is what the SDKs differ in.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::clock::SOON;
use crate::process::or_panic;
use crate::{Request, Server};

/// A stream of events.
#[derive(Debug)]
pub struct Listener {
    stream: BufReader<TcpStream>,
    /// The status of the answer.
    pub status: u16,
    /// Its headers, as they came.
    pub head: String,
    /// What was heard and not taken.
    text: String,
    has_ended: bool,
}

/// An event as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Its name, to come back to.
    pub id: String,
    /// Its kind.
    pub event: String,
    /// What it says.
    pub data: Value,
}

impl Listener {
    /// Listens at this path; the answer has to be a stream.
    #[track_caller]
    pub fn open(server: &Server, path: &str) -> Listener {
        let listener = Listener::send(server.address(), &Request::new("GET", path));
        assert_eq!(listener.status, 200, "{path}: {}", listener.head);
        listener
    }

    /// The same for a client that comes back.
    #[track_caller]
    pub fn open_after(server: &Server, path: &str, last_event_id: &str) -> Listener {
        let request = Request::new("GET", path).header("Last-Event-ID", last_event_id);
        let listener = Listener::send(server.address(), &request);
        assert_eq!(listener.status, 200, "{path}: {}", listener.head);
        listener
    }

    /// Sends a request and reads the head of its answer.
    #[track_caller]
    pub fn send(address: SocketAddr, request: &Request) -> Listener {
        let mut stream = or_panic("a connection", TcpStream::connect(address));
        or_panic("a time limit", stream.set_read_timeout(Some(SOON)));
        or_panic("a request", stream.write_all(&request.bytes()));
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = or_panic("the head of an answer", stream.read_line(&mut head));
            assert_ne!(read, 0, "closed within the head: {head}");
        }
        let status = head.get(9..12).and_then(|digits| digits.parse().ok()).unwrap_or_default();
        Listener { stream, status, head, text: String::new(), has_ended: false }
    }

    /// The next event, whatever signs of life come before; nothing at the end of the stream.
    #[track_caller]
    pub fn event(&mut self) -> Option<Told> {
        loop {
            let block = self.block()?;
            let field =
                |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            if !field("data: ").is_empty() {
                let data = serde_json::from_str(field("data: "));
                let data = data.unwrap_or_else(|error| panic!("{error} in {block}"));
                return Some(Told { id: field("id: ").to_owned(), event: field("event: ").to_owned(), data });
            }
        }
    }

    /// The next event of this kind; others before it are passed over.
    #[track_caller]
    pub fn until(&mut self, event: &str) -> Told {
        loop {
            match self.event() {
                Some(heard) if heard.event == event => return heard,
                Some(_) => {}
                None => panic!("the stream ended before {event}"),
            }
        }
    }

    /// Everything to the end of the stream, as it came.
    #[track_caller]
    pub fn rest(&mut self) -> String {
        while self.more() {}
        std::mem::take(&mut self.text)
    }

    /// The next block of lines with what ends it.
    #[track_caller]
    pub fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let rest = self.text.split_off(end + 2);
                return Some(std::mem::replace(&mut self.text, rest));
            }
            if !self.more() {
                assert_eq!(self.text, "", "the stream ends with a whole block");
                return None;
            }
        }
    }

    /// Waits for another chunk; whether there was one.
    #[track_caller]
    fn more(&mut self) -> bool {
        if !self.has_ended {
            match self.chunk() {
                Ok(chunk) if !chunk.is_empty() => self.text.push_str(&chunk),
                Ok(_) => self.has_ended = true,
                Err(error) => panic!("the stream broke: {error}"),
            }
        }
        !self.has_ended
    }

    fn chunk(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk)?;
        chunk.truncate(size);
        String::from_utf8(chunk).map_err(io::Error::other)
    }
}
