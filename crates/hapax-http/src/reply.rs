//! An answer as a route gives it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use bytes::Bytes;

/// A status, a body and whatever headers the route adds.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: StatusCode,
    /// The body.
    pub(crate) body: Bytes,
    /// What the body is.
    pub(crate) form: Form,
    /// Further headers.
    pub(crate) headers: HeaderMap,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, of the type that the client's dialect wants.
    Json,
    /// The text of the metrics.
    Text,
}

impl Reply {
    /// JSON with this status.
    pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Reply {
        Reply { status, body: body.into(), form: Form::Json, headers: HeaderMap::new() }
    }

    /// JSON with status 200.
    pub(crate) fn ok(body: Vec<u8>) -> Reply {
        Reply::json(StatusCode::OK, body)
    }

    /// Plain text.
    pub(crate) fn text(body: String) -> Reply {
        Reply { status: StatusCode::OK, body: body.into(), form: Form::Text, headers: HeaderMap::new() }
    }

    /// With a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Reply {
        self.headers.insert(name, value);
        self
    }

    /// With the address of the job.
    pub(crate) fn at_job(self, id: impl std::fmt::Display) -> Reply {
        match HeaderValue::from_str(&format!("/ojs/v1/jobs/{id}")) {
            Ok(address) => self.with(header::LOCATION, address),
            Err(_) => self,
        }
    }
}
