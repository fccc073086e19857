//! `GET /openapi.json` and `GET /docs`: every route described, for programs and for people.

use axum::http::{HeaderValue, header};
use bytes::Bytes;

use crate::call::Call;
use crate::openapi::page;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn document(call: Call) -> Result<Reply, Problem> {
    let document = call.shared.reference.get().cloned().unwrap_or_default();
    Ok(Reply::other("application/json", document))
}

/// Whoever opens it in a browser cannot show a key. It says nothing about the server: it asks for the document, with a key
/// that it was given if one is needed.
pub(crate) async fn page(_call: Call) -> Result<Reply, Problem> {
    Ok(Reply::other("text/html; charset=utf-8", Bytes::from_static(page::HTML.as_bytes()))
        .with(header::CONTENT_SECURITY_POLICY, page::POLICY.clone())
        .with(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
        .with(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")))
}
