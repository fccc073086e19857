//! `GET /openapi.json` and `GET /docs`: every route described, for programs and for people; `GET /docs/errors`: every error.

use axum::http::{HeaderValue, header};
use bytes::Bytes;

use crate::call::Call;
use crate::openapi::{errors, page};
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn document(call: Call) -> Result<Reply, Problem> {
    let document = call.shared.reference.get().cloned().unwrap_or_default();
    Ok(Reply::other("application/json", document))
}

/// Whoever opens it in a browser cannot show a key. It says nothing about the server: it asks for the document, with a key
/// that it was given if one is needed.
pub(crate) async fn page(_call: Call) -> Result<Reply, Problem> {
    Ok(shown(page::HTML, page::POLICY.clone()))
}

/// It says nothing about the server either, and whoever sent no key is told by an error where it is.
pub(crate) async fn errors(_call: Call) -> Result<Reply, Problem> {
    Ok(shown(&errors::HTML, HeaderValue::from_static(errors::POLICY)))
}

fn shown(html: &'static str, policy: HeaderValue) -> Reply {
    Reply::other("text/html; charset=utf-8", Bytes::from_static(html.as_bytes()))
        .with(header::CONTENT_SECURITY_POLICY, policy)
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
}
