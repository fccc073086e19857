//! A plain HTTP/1.1 client over one kept-alive connection, with nothing between a test and the bytes.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Error, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::Answer;

/// Longer than any time limit of the server that a test waits for.
const READ_MAX: Duration = Duration::from_secs(40);

/// A request that can be sent, and sent again.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, path: &str) -> Request {
        Request { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None }
    }

    /// A POST of JSON text; the text need not be JSON.
    pub fn post(path: &str, text: impl Into<Vec<u8>>) -> Request {
        Request::new("POST", path).header("Content-Type", "application/json").body(text)
    }

    /// The request with this body and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = Some(body.into());
        self
    }

    /// The request with this header in the place of an earlier one of its name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: hapax\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            // Writing to a String cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if let Some(body) = &self.body {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        let mut bytes = (head + "\r\n").into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// There was no connection: nothing happened.
    NotSent(Error),
    /// The connection broke: it may have happened.
    Unknown(Error),
}

/// A client with one connection, opened when it is needed.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
    authorization: Option<String>,
}

impl Client {
    /// A client of this server.
    pub fn new(address: SocketAddr) -> Client {
        Client { address, stream: None, authorization: None }
    }

    /// The client with this API key.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Client {
        self.authorization = Some(format!("Bearer {key}"));
        self
    }

    /// Sends a request and reads its answer, or says what is known.
    pub fn try_send(&mut self, request: &Request) -> Result<Answer, Failure> {
        let request = match &self.authorization {
            Some(value) => request.clone().header("Authorization", value),
            None => request.clone(),
        };
        self.connect().map_err(Failure::NotSent)?;
        let answer = self.write(&request.bytes()).and_then(|()| self.read_answer());
        answer.map_err(|error| {
            self.stream = None;
            Failure::Unknown(error)
        })
    }

    /// Sends a request and reads its answer.
    #[track_caller]
    pub fn send(&mut self, request: &Request) -> Answer {
        match self.try_send(request) {
            Ok(answer) => answer,
            Err(failure) => panic!("no answer to {} {}: {failure:?}", request.method, request.path),
        }
    }

    /// GET.
    #[track_caller]
    pub fn get(&mut self, path: &str) -> Answer {
        self.send(&Request::new("GET", path))
    }

    /// DELETE.
    #[track_caller]
    pub fn delete(&mut self, path: &str) -> Answer {
        self.send(&Request::new("DELETE", path))
    }

    /// POST of JSON.
    #[track_caller]
    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.send(&Request::post(path, body.to_string()))
    }

    /// Writes bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connect()?.get_mut().write_all(bytes)
    }

    /// Reads one answer. After one that says so the connection is closed.
    pub fn read_answer(&mut self) -> io::Result<Answer> {
        let answer = loop {
            let answer = read_answer(self.connect()?)?;
            if answer.status >= 200 {
                break answer;
            }
        };
        if answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            self.stream = None;
        }
        Ok(answer)
    }

    /// Whether the server closed its side within the time. Bytes that arrive before are dropped.
    pub fn is_closed_within(&mut self, limit: Duration) -> bool {
        let Some(stream) = &mut self.stream else { return true };
        if stream.get_ref().set_read_timeout(Some(limit)).is_err() {
            return true;
        }
        match io::copy(stream, &mut io::sink()) {
            Ok(_) => true,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }

    /// Whether the next request goes over the same connection.
    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    fn connect(&mut self) -> io::Result<&mut BufReader<TcpStream>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(READ_MAX))?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut().ok_or_else(|| Error::other("no connection"))
    }
}

fn read_answer(stream: &mut impl BufRead) -> io::Result<Answer> {
    let status_line = read_line(stream)?;
    let status = status_line.get(9..12).and_then(|digits| digits.parse().ok());
    let status = status.ok_or_else(|| malformed(&format!("status line: {status_line:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let body = if status < 200 || status == 204 { Vec::new() } else { read_body(stream, &headers)? };
    let body = String::from_utf8(body).map_err(|_| malformed("a body that is not text"))?;
    Ok(Answer::new(status, headers, body))
}

fn read_body(stream: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
    let header = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    if let Some(length) = header("content-length") {
        let length = length.parse().map_err(|_| malformed("content-length"))?;
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        return Ok(body);
    }
    let mut body = Vec::new();
    if header("transfer-encoding").is_none_or(|coding| coding != "chunked") {
        stream.read_to_end(&mut body)?;
        return Ok(body);
    }
    loop {
        let size = usize::from_str_radix(&read_line(stream)?, 16).map_err(|_| malformed("chunk"))?;
        let mut chunk = vec![0; size];
        stream.read_exact(&mut chunk)?;
        read_line(stream)?;
        if size == 0 {
            return Ok(body);
        }
        body.extend(chunk);
    }
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection"));
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("malformed answer: {what}"))
}
