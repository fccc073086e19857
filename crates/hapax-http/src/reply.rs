//! An answer as a route gives it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use bytes::Bytes;
use hapax_core::JobId;
use hapax_wire::writer;

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
    /// Something of this media type.
    Other(&'static str),
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

    /// Nothing more to say.
    pub(crate) fn nothing() -> Reply {
        Reply::json(StatusCode::NO_CONTENT, Vec::new())
    }

    /// Something of this media type.
    pub(crate) fn other(media: &'static str, body: Bytes) -> Reply {
        Reply { status: StatusCode::OK, body, form: Form::Other(media), headers: HeaderMap::new() }
    }

    /// With warnings beside what a JSON object says; as it is if there are none.
    pub(crate) fn warning(mut self, warnings: &[String]) -> Reply {
        let Some(said) = self.body.strip_suffix(b"}").filter(|_| !warnings.is_empty()) else { return self };
        let mut out = said.to_vec();
        out.extend_from_slice(if said == b"{" { b"\"warnings\":" } else { b",\"warnings\":" });
        writer::array(&mut out, warnings, |warning, out| writer::text(out, warning));
        out.push(b'}');
        self.body = out.into();
        self
    }

    /// With a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Reply {
        self.headers.insert(name, value);
        self
    }

    /// With the address of the job.
    pub(crate) fn at_job(self, id: JobId) -> Reply {
        match HeaderValue::from_bytes(&[b"/ojs/v1/jobs/".as_slice(), &id.text()].concat()) {
            Ok(address) => self.with(header::LOCATION, address),
            Err(_) => self,
        }
    }
}
