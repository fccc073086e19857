//! An answer that says what went wrong.

use std::borrow::Cow;
use std::error::Error as _;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use hapax_broker::Error;
use hapax_core::Refusal;
use hapax_store::StoreError;
use hapax_wire::error::{Code, ErrorBody};
use hapax_wire::writer::{self, Object};

use crate::from_wire::Fault;
use crate::reply::{Form, Reply};
use crate::request_id::RequestId;
use crate::to_wire::admission::{QUEUE_BOUND, QUEUE_DEPTH};
use crate::to_wire::{maintenance, refusal};

/// After how many seconds something that is out of reach may be back.
const RETRY_AFTER_SECONDS: u64 = 1;

/// What went wrong, before it knows which request it belongs to.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The kind.
    pub(crate) code: Code,
    /// For a person.
    pub(crate) message: Cow<'static, str>,
    /// For a program: a JSON object.
    pub(crate) details: Option<Vec<u8>>,
    /// What to do, if it is not the usual.
    pub(crate) hint: Option<&'static str>,
    /// After how many seconds to try again, if it is worth it and not the usual.
    pub(crate) retry_after: Option<u64>,
    /// How many jobs wait in a full queue, and how many may.
    pub(crate) full: Option<(u64, u64)>,
}

impl Problem {
    /// A problem that needs no details.
    pub(crate) fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Problem {
        Problem { code, message: message.into(), details: None, hint: None, retry_after: None, full: None }
    }

    /// There is no such thing.
    pub(crate) fn no_resource(kind: &'static str, id: &str) -> Problem {
        let id: String = id.chars().take(64).collect();
        let mut details = Vec::new();
        writer::object(&mut details, |o| {
            o.text("resource_type", kind);
            o.text("resource_id", &id);
        });
        let message = format!("there is no {} {id:?}", kind.replace('_', " "));
        Problem { details: Some(details), ..Problem::new(Code::NotFound, message) }
    }

    /// The answer to the request of that name.
    pub(crate) fn reply(&self, id: &RequestId) -> Reply {
        let status = StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Reply { status, body: self.body(id).to_json().into(), form: Form::Json, headers: self.headers() }
    }

    /// Writes the `error` member of something that did not go wrong as a whole.
    pub(crate) fn write(&self, o: &mut Object<'_>, id: &RequestId) {
        o.object("error", |o| self.body(id).members(o));
    }

    fn body<'p>(&'p self, id: &'p RequestId) -> ErrorBody<'p> {
        ErrorBody {
            code: self.code,
            message: &self.message,
            details: self.details.as_deref().and_then(|details| std::str::from_utf8(details).ok()),
            request_id: id.as_str(),
            hint: self.hint,
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self.code {
            Code::Unauthenticated => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            // A number of seconds: the SDKs read nothing else.
            Code::BackendUnavailable | Code::QueueFull | Code::QueueDraining | Code::ResultPending => {
                let seconds = self.retry_after.unwrap_or(RETRY_AFTER_SECONDS);
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            _ => {}
        }
        if let Some((depth, bound)) = self.full {
            headers.insert(QUEUE_DEPTH, depth.into());
            headers.insert(QUEUE_BOUND, bound.into());
        }
        headers
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Problem {
        let Fault { code, message, details } = fault;
        Problem { details: Some(details), ..Problem::new(code, message) }
    }
}

impl From<Refusal> for Problem {
    fn from(refused: Refusal) -> Problem {
        refusal::problem(&refused)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        match error {
            Error::Refused(refused) => refused.into(),
            Error::Store(error) => of_store(&error),
            Error::Busy => Problem::new(Code::BackendUnavailable, error.to_string()),
            Error::Maintenance { maintenance, now } => maintenance::problem(&maintenance, now),
        }
    }
}

fn of_store(error: &StoreError) -> Problem {
    let code = match error {
        StoreError::Failed(_) => Code::BackendError,
        StoreError::Unknown(_) => Code::OutcomeUnknown,
        StoreError::Closed => Code::BackendUnavailable,
        StoreError::Damaged { .. } => Code::Internal,
    };
    if code != Code::BackendUnavailable {
        tracing::error!(cause = error.source().map(tracing::field::display), "{error}");
    }
    Problem::new(code, error.to_string())
}
