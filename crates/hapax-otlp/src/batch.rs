//! What is sent at a time: the body of one request.

use bytes::Bytes;
use serde::Serialize;

use crate::span::{Attribute, Span};

/// Spans as they are sent.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    pub(crate) body: Bytes,
    pub(crate) spans: u64,
}

/// Who sends.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) service_name: Box<str>,
    pub(crate) version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'s> {
    resource_spans: [ResourceSpans<'s>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'s> {
    resource: Resource,
    scope_spans: [ScopeSpans<'s>; 1],
}

#[derive(Serialize)]
struct Resource {
    attributes: [Attribute; 2],
}

#[derive(Serialize)]
struct ScopeSpans<'s> {
    scope: Scope,
    spans: &'s [Span],
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Batch {
    /// The request that tells of these spans.
    pub(crate) fn new(source: &Source, spans: &[Span]) -> Result<Batch, serde_json::Error> {
        let Source { service_name, version } = source;
        let attributes = [
            Attribute::text("service.name", service_name.clone()),
            Attribute::text("service.version", *version),
        ];
        let scope_spans = [ScopeSpans { scope: Scope { name: "hapax", version }, spans }];
        let request =
            Request { resource_spans: [ResourceSpans { resource: Resource { attributes }, scope_spans }] };
        let body = serde_json::to_vec(&request)?.into();
        Ok(Batch { body, spans: u64::try_from(spans.len()).unwrap_or(u64::MAX) })
    }
}
