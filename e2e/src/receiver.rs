//! An endpoint of webhooks: takes what it is sent, and answers as the test says.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use crate::process::or_panic;

/// How an endpoint behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It answers with this status.
    Answers(u16),
    /// It takes the request and hangs up.
    HangsUp,
    /// It takes the request and says nothing.
    Hangs,
}

/// One request that arrived.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: String,
    /// How it was answered.
    pub manner: Manner,
}

impl Arrival {
    /// A header that has to be there.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(found, _)| found == name);
        found.map_or_else(|| panic!("no header {name} in {:?}", self.headers), |(_, value)| value)
    }

    /// The event.
    #[track_caller]
    pub fn event(&self) -> Value {
        or_panic("an event", serde_json::from_str(&self.body).map_err(std::io::Error::other))
    }
}

/// An endpoint that listens until the test ends.
#[derive(Debug, Clone)]
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    manner: Manner,
    arrivals: Vec<Arrival>,
}

impl Receiver {
    /// One that answers 200.
    #[track_caller]
    pub fn start() -> Receiver {
        let listener = or_panic("a free port", TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let address = or_panic("the number of the port", listener.local_addr());
        let shared = Shared { manner: Manner::Answers(200), arrivals: Vec::new() };
        let receiver = Receiver { address, shared: Arc::new(Mutex::new(shared)) };
        let listening = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let listening = listening.clone();
                thread::spawn(move || listening.take(stream));
            }
        });
        receiver
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// From here on it behaves like this.
    pub fn behave(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// What arrived so far.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.lock().arrivals.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let Some((headers, body)) = read(&mut reader) else { return };
        let manner = {
            let mut shared = self.lock();
            let manner = shared.manner;
            shared.arrivals.push(Arrival { headers, body, manner });
            manner
        };
        match manner {
            Manner::Answers(status) => {
                let answer = format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n");
                // A server that was killed meanwhile does not hear it.
                drop(reader.get_mut().write_all(answer.as_bytes()));
            }
            Manner::HangsUp => {}
            // Until the other side gives up.
            Manner::Hangs => drop(reader.read_line(&mut String::new())),
        }
    }
}

type Request = (Vec<(String, String)>, String);

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut headers = Vec::new();
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((headers, String::from_utf8(body).ok()?))
}
