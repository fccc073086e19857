//! What a client knows after a request: an answer, that nothing was done, or nothing at all.

use std::io;

use crate::{Answer, Client, Failure, Request};

/// What came of a request.
#[derive(Debug)]
pub enum Heard {
    /// The server did or refused what was asked.
    Answer(Answer),
    /// The server says that its store failed and nothing was changed: that must be true.
    NothingDone,
    /// The server says that it does not know.
    Unknown,
    /// There was no connection: nothing was done.
    NotSent(io::Error),
    /// The connection broke: it may have been done.
    Broken(io::Error),
}

impl Heard {
    /// Sends a request, and says what came of it.
    #[track_caller]
    pub fn from(client: &mut Client, request: &Request) -> Heard {
        match client.try_send(request) {
            Ok(answer) if answer.status < 500 => Heard::Answer(answer),
            Ok(answer) => match answer["error"]["code"].as_str() {
                Some("backend_error") => Heard::NothingDone,
                Some("outcome_unknown") => Heard::Unknown,
                _ => panic!("{}: {}", answer.status, answer.body),
            },
            Err(Failure::NotSent(error)) => Heard::NotSent(error),
            Err(Failure::Unknown(error)) => Heard::Broken(error),
        }
    }

    /// Whether it may have been done although nobody says so.
    pub fn is_open(&self) -> bool {
        matches!(self, Heard::Unknown | Heard::Broken(_))
    }
}
