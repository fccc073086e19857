//! What the head of a request says, and for what of it the request is refused.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header, request};
use hapax_wire::error::Code;

use crate::auth::Caller;
use crate::compat::{Dialect, VERSION_ALIASES};
use crate::from_wire::{Fault, Media, Place};
use crate::limits::{HEADER_BYTES_MAX, HEADERS_MAX, URI_BYTES_MAX};
use crate::page;
use crate::problem::Problem;
use crate::shared::{Access, Endpoint};

pub(crate) const OJS_VERSION: HeaderName = HeaderName::from_static("ojs-version");
/// The one version of the protocol.
pub(crate) const VERSION: &str = "1.0";

/// What one walk over the headers shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Survey {
    bytes: usize,
    /// Whether one of those is there that few requests have. Each look-up costs, and most requests are spared them.
    pub(crate) has_rare: bool,
    /// Whether the client says which version of the protocol it speaks, or how it calls the request.
    pub(crate) names_itself: bool,
}

impl Survey {
    pub(crate) fn of(headers: &HeaderMap) -> Survey {
        let mut survey = Survey { bytes: 0, has_rare: false, names_itself: false };
        for (name, value) in headers {
            let name = name.as_str();
            survey.bytes += name.len() + value.len();
            survey.has_rare |= is_rare(name);
            survey.names_itself |= matches!(name, "ojs-version" | "x-request-id");
        }
        survey
    }
}

/// Whether few requests have a header of this name. They are compared as texts, which is quicker than by their constants.
fn is_rare(name: &str) -> bool {
    matches!(
        name,
        "x-ojs-tenant"
            | "traceparent"
            | "tracestate"
            | "idempotency-key"
            | "ojs-block-timeout"
            | "origin"
            | "sec-fetch-site"
    )
}

/// The dialect that the request asks for; an error for a version that nobody speaks.
pub(crate) fn negotiated(version: Option<&HeaderValue>) -> Result<Dialect, Problem> {
    match version {
        None => Ok(Dialect::OpenApi),
        Some(version) if version == VERSION => Ok(Dialect::Negotiated),
        Some(version) if VERSION_ALIASES.iter().any(|alias| version == alias) => Ok(Dialect::Negotiated),
        Some(_) => {
            let message = "this server speaks OJS-Version 1.0 and no other";
            Err(Problem::new(Code::Unsupported, message))
        }
    }
}

/// Refuses a request for what its head says. The key comes first: strangers learn nothing else.
pub(crate) fn admit(
    endpoint: &Endpoint,
    parts: &request::Parts,
    survey: Survey,
    version: Result<Dialect, Problem>,
    caller: &mut Caller,
) -> Result<(), Problem> {
    if endpoint.access == Access::Keyed {
        let wrong = |_| Problem::new(Code::Unauthenticated, "the request shows no API key of this server");
        *caller = endpoint.shared.auth.check(&parts.headers).map_err(wrong)?;
        if !endpoint.shared.auth.wants_keys() {
            page::expect_own(parts, survey)?;
        }
    }
    let uri_bytes = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if uri_bytes > URI_BYTES_MAX {
        let message = format!("the path has {uri_bytes} bytes, and at most {URI_BYTES_MAX} are taken");
        return Err(Problem::new(Code::UriTooLong, message));
    }
    if parts.headers.len() > HEADERS_MAX || survey.bytes > HEADER_BYTES_MAX {
        let message = format!("at most {HEADERS_MAX} headers with {HEADER_BYTES_MAX} bytes in all are taken");
        return Err(Problem::new(Code::HeadersTooLarge, message));
    }
    version.map(|_| ())
}

/// The media type of a body; without a header it is plain JSON.
pub(crate) fn media(headers: &HeaderMap) -> Result<Media, Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Media::Json) };
    let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/openjobspec+json") {
        Ok(Media::OpenJobSpec)
    } else if essence.eq_ignore_ascii_case(b"application/json") {
        Ok(Media::Json)
    } else {
        let problem = "must be application/openjobspec+json or application/json";
        let fault = Fault::new(Place::Member(&Place::Body, "Content-Type"), problem);
        let hint = "Send the header Content-Type: application/json; curl -d sends another type unless told.";
        Err(Problem { hint: Some(hint), ..fault.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{BLOCK_TIMEOUT, IDEMPOTENCY_KEY, REQUEST_ID};
    use crate::origin::{TENANT, TRACE_PARENT, TRACE_STATE};
    use crate::page::FETCH_SITE;

    #[test]
    fn a_name_of_the_request_or_of_a_version_is_seen() {
        for (name, is_seen) in [(OJS_VERSION, true), (REQUEST_ID, true), (header::HOST, false)] {
            let headers = HeaderMap::from_iter([(name.clone(), HeaderValue::from_static("h"))]);
            assert_eq!(Survey::of(&headers).names_itself, is_seen, "{name}");
        }
    }

    #[test]
    fn a_rare_header_is_seen() {
        let rare =
            [TENANT, TRACE_PARENT, TRACE_STATE, IDEMPOTENCY_KEY, BLOCK_TIMEOUT, header::ORIGIN, FETCH_SITE];
        for name in rare {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("h"));
            assert!(!Survey::of(&headers).has_rare);
            headers.insert(name.clone(), HeaderValue::from_static("value"));
            assert!(Survey::of(&headers).has_rare, "{name}");
            assert_eq!(Survey::of(&headers).bytes, "hosthvalue".len() + name.as_str().len());
        }
    }
}
