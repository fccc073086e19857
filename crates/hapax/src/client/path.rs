//! Paths of the server, with texts of people in them.

use std::fmt::{self, Write as _};

/// A path with its query. What people wrote is percent-encoded, so that it stays one segment or one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiPath {
    text: String,
    has_query: bool,
}

impl ApiPath {
    /// A path that is written in our code.
    pub(crate) fn new(path: &'static str) -> ApiPath {
        ApiPath { text: path.to_owned(), has_query: false }
    }

    /// With one more segment.
    #[must_use]
    pub(crate) fn segment(mut self, text: &str) -> ApiPath {
        self.text.push('/');
        self.encode(text);
        self
    }

    /// With a parameter, if there is a value for it.
    #[must_use]
    pub(crate) fn parameter(mut self, name: &'static str, value: Option<impl fmt::Display>) -> ApiPath {
        if let Some(value) = value {
            self.text.push(if self.has_query { '&' } else { '?' });
            self.text.push_str(name);
            self.text.push('=');
            self.encode(&value.to_string());
            self.has_query = true;
        }
        self
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// RFC 3986, 2.3: all but the unreserved characters.
    fn encode(&mut self, text: &str) {
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.text.push(char::from(byte));
            } else {
                let _infallible = write!(self.text, "%{byte:02X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &ApiPath, expected: &str) {
        assert_eq!(path.as_str(), expected);
    }

    #[test]
    fn what_people_wrote_stays_one_segment() {
        let keys = || ApiPath::new("/job-keys");
        check(&keys().segment("report-1.b_c~"), "/job-keys/report-1.b_c~");
        check(&keys().segment("a/b?c#d%e f"), "/job-keys/a%2Fb%3Fc%23d%25e%20f");
        check(&keys().segment("größe\n"), "/job-keys/gr%C3%B6%C3%9Fe%0A");
        check(&keys().segment("ab").segment("release"), "/job-keys/ab/release");
    }

    #[test]
    fn a_parameter_without_a_value_is_left_out() {
        let none: Option<&str> = None;
        let path = ApiPath::new("/keys").parameter("type", none).parameter("queue", Some("a&b=c+d"));
        check(&path.parameter("limit", Some(5)), "/keys?queue=a%26b%3Dc%2Bd&limit=5");
        check(&ApiPath::new("/keys").parameter("type", none), "/keys");
    }
}
