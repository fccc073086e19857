//! Pages in browsers: which of them may speak to the server.
//!
//! A browser sends what any page tells it to wherever the browser reaches, the machine of its user included. Keys keep
//! pages out, for a page does not know them. A server without keys looks at what browsers say of themselves.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, header, request};
use hapax_wire::error::Code;

use crate::head::Survey;
use crate::problem::Problem;

pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses what a page of another site has a browser send. Programs send none of what this looks at, but for the host.
pub(crate) fn expect_own(parts: &request::Parts, survey: Survey) -> Result<(), Problem> {
    if survey.has_rare {
        expect_own_site(parts)?;
    }
    let Some(host) = host(parts) else { return Ok(()) };
    if is_of_this_machine(host) {
        return Ok(());
    }
    let problem = "the request names a host that this server, which has no keys, does not answer for";
    let hint =
        "Use the address, localhost, or a name without dots; or give the server keys (--api-key-file).";
    Err(Problem { hint: Some(hint), ..foreign(problem) })
}

fn expect_own_site(parts: &request::Parts) -> Result<(), Problem> {
    expect_own_origin(parts)?;
    let site = parts.headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
    let changes = !matches!(parts.method, Method::GET | Method::HEAD);
    if changes && site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return Err(foreign("the header Sec-Fetch-Site says that a page of another site sent this"));
    }
    Ok(())
}

/// Refuses an `Origin` that is not the server itself. Nothing else keeps a foreign page from listening to a WebSocket
/// (Real-Time 6).
pub(crate) fn expect_own_origin(parts: &request::Parts) -> Result<(), Problem> {
    let Some(origin) = parts.headers.get(header::ORIGIN) else { return Ok(()) };
    let page = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    if page.zip(host(parts)).is_some_and(|(page, own)| page.eq_ignore_ascii_case(own)) {
        return Ok(());
    }
    Err(foreign("the header Origin names a page of another site, which may not speak to this server"))
}

fn foreign(message: &'static str) -> Problem {
    Problem::new(Code::Forbidden, message)
}

/// What the client takes the server for: HTTP/2 says it in the URI.
fn host(parts: &request::Parts) -> Option<&str> {
    let said = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    said.or_else(|| parts.uri.authority().map(Authority::as_str))
}

/// Whether a name cannot be one that somebody far away lets point here: an address, or a name that public servers of names
/// do not have.
fn is_of_this_machine(host: &str) -> bool {
    // Most name an IPv4 address. The last part of a public name is never a number.
    if host.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b':')) {
        return true;
    }
    let without_port = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let name = without_port.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(without_port);
    let name = name.strip_suffix('.').unwrap_or(name);
    name.parse::<IpAddr>().is_ok() || !name.contains('.') || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn is_taken(method: &str, headers: &[(&str, &str)]) -> bool {
        let request = Request::builder().method(method).uri("/ojs/v1/jobs");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let (parts, ()) = request.body(()).unwrap().into_parts();
        expect_own(&parts, Survey::of(&parts.headers)).is_ok()
    }

    #[test]
    fn programs_are_let_in() {
        assert!(is_taken("POST", &[]));
        for host in
            ["127.0.0.1:8080", "[::1]:8080", "[::1]", "localhost", "a.localhost:1", "hapax:8080", "10.0.0.1"]
        {
            assert!(is_taken("POST", &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn names_that_others_can_point_here_are_not() {
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil.example.",
            "a.b:c",
        ] {
            assert!(!is_taken("GET", &[("host", host)]), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let host = ("host", "127.0.0.1:8080");
        assert!(is_taken(
            "POST",
            &[host, ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-origin")]
        ));
        assert!(is_taken("GET", &[host, ("sec-fetch-site", "cross-site")]), "a link leads here");
        for foreign in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1:9090"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert!(!is_taken("POST", &[host, foreign]), "{foreign:?}");
        }
    }
}
