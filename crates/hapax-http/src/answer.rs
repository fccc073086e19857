//! What a request gets: a whole reply, or an answer that lasts.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode};

use crate::live::EventStream;
use crate::reply::Reply;

/// What a request gets.
#[derive(Debug)]
pub(crate) enum Answer {
    /// All there is to say.
    Whole(Reply),
    /// The beginning of a stream of events.
    Stream(EventStream),
    /// The end of HTTP on this connection, with these headers, and what is spoken on it from here on.
    Upgrade(HeaderMap, Session),
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Answer::Whole(reply) => reply.status,
            Answer::Stream(_) => StatusCode::OK,
            Answer::Upgrade(..) => StatusCode::SWITCHING_PROTOCOLS,
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer::Whole(reply)
    }
}

/// A mark on a response that is not over when its head was sent, for the connection.
#[derive(Debug, Clone)]
pub(crate) enum Lasting {
    /// The body goes on.
    Stream,
    /// The connection goes on without HTTP.
    Upgrade(Session),
}

/// What is spoken on a connection after HTTP. It is taken once: clones are one session.
#[derive(Clone)]
pub(crate) struct Session(Arc<Mutex<Option<Speaking>>>);

/// A session under way.
pub(crate) type Speaking = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Session {
    pub(crate) fn new(speaking: impl Future<Output = ()> + Send + 'static) -> Session {
        Session(Arc::new(Mutex::new(Some(Box::pin(speaking)))))
    }

    /// The session, for the one who sees it through.
    pub(crate) fn take(&self) -> Option<Speaking> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
