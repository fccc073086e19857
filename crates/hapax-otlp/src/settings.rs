//! Where spans go, and under which name.

use std::fmt;

use hapax_core::webhook::{self, Endpoint, Reach};
use hyper::HeaderMap;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};

/// Where a collector takes spans, below the address that it is known by.
const PATH: &str = "/v1/traces";
/// What the server calls itself unless it is told otherwise.
const SERVICE_NAME: &str = "hapax";
/// Most headers.
const HEADERS_MAX: usize = 16;
/// What a request says by itself.
const RESERVED: [HeaderName; 5] = [HOST, CONTENT_TYPE, CONTENT_LENGTH, CONNECTION, TRANSFER_ENCODING];

/// Where spans go, and under which name.
#[derive(Clone)]
pub struct Settings {
    pub(crate) endpoint: Endpoint,
    pub(crate) headers: HeaderMap,
    pub(crate) service_name: Box<str>,
    pub(crate) version: &'static str,
}

/// An address that cannot be that of a collector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It has a part that has no place there.
    #[error("must be a URL without a query, such as http://127.0.0.1:4318")]
    Query,
    /// It has a user or a password in it.
    #[error("must not carry a user or a password: headers are the place for secrets")]
    User,
    /// It is no URL, or not a plain one.
    #[error(transparent)]
    Url(webhook::EndpointError),
}

/// Headers that cannot be sent. What stands in them is not repeated: it may be secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadersError {
    /// There are too many.
    #[error("must be at most {HEADERS_MAX} headers")]
    Many,
    /// One is not of the form.
    #[error("must be name=value, separated by commas; number {0} is not")]
    Form(usize),
    /// One has a name that no header can have.
    #[error("must have names of letters, digits and hyphens; that of number {0} is not one")]
    Name(usize),
    /// One has a name that is taken.
    #[error("must not set what every request says by itself, as number {0} does")]
    Reserved(usize),
    /// One has a value that no header can have.
    #[error("must have values of visible characters, others as %XX; that of number {0} is not one")]
    Value(usize),
}

impl Settings {
    /// To the collector at this address, from this version of the program.
    pub fn to(url: &str, version: &'static str) -> Result<Settings, EndpointError> {
        if url.contains(['?', '#']) {
            return Err(EndpointError::Query);
        }
        let url = format!("{}{PATH}", url.trim_end_matches('/'));
        let endpoint = Endpoint::parse(&url, Reach::Everywhere).map_err(|error| match error {
            webhook::EndpointError::User => EndpointError::User,
            other => EndpointError::Url(other),
        })?;
        let mut headers = HeaderMap::new();
        headers
            .extend(HeaderValue::try_from(format!("hapax/{version}")).ok().map(|value| (USER_AGENT, value)));
        Ok(Settings { endpoint, headers, service_name: SERVICE_NAME.into(), version })
    }

    /// With these headers, in the form that OpenTelemetry has for them: `name=value,name=value`, values percent-encoded.
    pub fn with_headers(mut self, text: &str) -> Result<Settings, HeadersError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        for (number, part) in (1..).zip(parts) {
            if number > HEADERS_MAX {
                return Err(HeadersError::Many);
            }
            let (name, value) = part.split_once('=').ok_or(HeadersError::Form(number))?;
            let name = HeaderName::try_from(name.trim()).map_err(|_| HeadersError::Name(number))?;
            if RESERVED.contains(&name) {
                return Err(HeadersError::Reserved(number));
            }
            let value = decoded(value.trim()).and_then(|value| HeaderValue::from_bytes(&value).ok());
            let mut value = value.ok_or(HeadersError::Value(number))?;
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
        Ok(self)
    }

    /// Under this name.
    #[must_use]
    pub fn named(self, service_name: &str) -> Settings {
        Settings { service_name: service_name.into(), ..self }
    }

    /// Where spans go.
    pub fn url(&self) -> &str {
        self.endpoint.url()
    }
}

/// The headers may be secret.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { endpoint, headers: _, service_name, version: _ } = self;
        f.debug_struct("Settings")
            .field("endpoint", &endpoint.url())
            .field("service_name", service_name)
            .finish_non_exhaustive()
    }
}

/// Undoes percent-encoding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.as_bytes().split(|byte| *byte == b'%');
    let mut bytes = parts.next()?.to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let digits =
            str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(url: &str) -> Result<String, String> {
        Settings::to(url, "1.2.3")
            .map(|settings| settings.url().to_owned())
            .map_err(|error| error.to_string())
    }

    fn headers(text: &str) -> Result<Settings, HeadersError> {
        Settings::to("http://collector:4318", "1.2.3").unwrap().with_headers(text)
    }

    #[test]
    fn spans_go_below_the_address_of_the_collector() {
        assert_eq!(to("http://collector:4318").unwrap(), "http://collector:4318/v1/traces");
        assert_eq!(to("https://example.com/otlp/").unwrap(), "https://example.com/otlp/v1/traces");
        assert!(to("collector:4318").unwrap_err().contains("must begin with https:// or http://"));
        assert!(to("http://me:secret@collector").unwrap_err().contains("headers are the place for secrets"));
        assert!(to("http://collector?key=1").unwrap_err().contains("without a query"));
        assert!(to("").is_err());
    }

    #[test]
    fn headers_are_pairs_with_encoded_values() {
        let settings = headers("Authorization=Bearer%20a%3Db, x-team = jobs ,").unwrap();
        assert_eq!(settings.headers["authorization"], "Bearer a=b");
        assert_eq!(settings.headers["x-team"], "jobs");
        assert_eq!(settings.headers[USER_AGENT], "hapax/1.2.3");
        assert!(!format!("{settings:?}").contains("Bearer"), "{settings:?}");
        assert!(!format!("{:?}", settings.headers).contains("Bearer"));
    }

    #[test]
    fn headers_that_cannot_be_sent_are_refused_by_number() {
        let refused = |text: &str| headers(text).unwrap_err();
        assert_eq!(refused("a=1,secret"), HeadersError::Form(2));
        assert_eq!(refused("a b=1"), HeadersError::Name(1));
        assert_eq!(refused("Content-Type=text/plain"), HeadersError::Reserved(1));
        for value in ["%0d%0a", "%", "%1", "%zz", "%+1"] {
            assert_eq!(refused(&format!("a={value}")), HeadersError::Value(1), "{value}");
        }
        let many: Vec<String> = (0..=HEADERS_MAX).map(|number| format!("h{number}=1")).collect();
        assert_eq!(refused(&many.join(",")), HeadersError::Many);
    }
}
