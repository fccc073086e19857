//! What the head of a request says, and for what of it the request is refused.

use axum::http::{HeaderMap, HeaderName, header, request};
use hapax_wire::error::Code;

use crate::auth::Caller;
use crate::compat::Dialect;
use crate::from_wire::{Fault, Media, Place};
use crate::limits::{HEADER_BYTES_MAX, HEADERS_MAX, URI_BYTES_MAX};
use crate::problem::Problem;
use crate::shared::{Access, Endpoint};

pub(crate) const OJS_VERSION: HeaderName = HeaderName::from_static("ojs-version");
/// The one version of the protocol.
pub(crate) const VERSION: &str = "1.0";

/// The dialect that the request asks for; an error for a version that nobody speaks.
pub(crate) fn negotiated(headers: &HeaderMap) -> Result<Dialect, Problem> {
    match headers.get(OJS_VERSION) {
        None => Ok(Dialect::OpenApi),
        Some(version) if version == VERSION => Ok(Dialect::Negotiated),
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
    version: Result<Dialect, Problem>,
    caller: &mut Caller,
) -> Result<(), Problem> {
    if endpoint.access == Access::Keyed {
        let wrong = |_| Problem::new(Code::Unauthenticated, "the request shows no API key of this server");
        *caller = endpoint.shared.auth.check(&parts.headers).map_err(wrong)?;
    }
    let uri_bytes = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if uri_bytes > URI_BYTES_MAX {
        let message = format!("the path has {uri_bytes} bytes, and at most {URI_BYTES_MAX} are taken");
        return Err(Problem::new(Code::UriTooLong, message));
    }
    let bytes: usize = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if parts.headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
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
