//! Where the server is.

use std::fmt;

use hyper::Uri;

use crate::failure::Failure;

const HTTP_PORT: u16 = 80;

/// The address of a server: `http://host:port`, perhaps with a path in front of the server's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    authority: String,
    host: String,
    port: u16,
    /// Without a slash at its end.
    prefix: String,
}

impl ServerUrl {
    /// Reads an address. A refusal never repeats a text that may have a password in it.
    pub(crate) fn parse(text: &str) -> Result<ServerUrl, Failure> {
        if text.contains('@') {
            return Err(Failure::misuse("the address of the server must not have a name or password in it")
                .hint("the server asks for an API key: put it into HAPAX_API_KEY, or name its file with --api-key-file"));
        }
        let wrong = || {
            Failure::misuse(format!("\"{}\" is not the address of a server", text.escape_debug()))
                .hint("write it as http://127.0.0.1:8080")
        };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(encrypted(text)),
            _ => return Err(wrong()),
        }
        let authority = uri.authority().ok_or_else(wrong)?;
        let has_port = authority.as_str().len() > authority.host().len();
        let port = authority.port_u16().or_else(|| (!has_port).then_some(HTTP_PORT)).ok_or_else(wrong)?;
        if uri.query().is_some() || text.contains('#') || authority.host().is_empty() || port == 0 {
            return Err(wrong());
        }
        Ok(ServerUrl {
            authority: authority.to_string(),
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// What to connect to.
    pub(super) fn destination(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// What the `Host` header says.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// Where a path of the server is under this address.
    pub(super) fn target(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.prefix)
    }
}

fn encrypted(text: &str) -> Failure {
    Failure::misuse(format!("{}: this command does not speak TLS", text.escape_debug())).hint(
        "talk to the server itself, as in --server http://127.0.0.1:8080 on its machine or through `ssh -L`, or to \
         a local proxy that adds the encryption",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Failure {
        ServerUrl::parse(text).unwrap_err()
    }

    #[test]
    fn an_address_says_where_to_connect_and_what_to_ask_for() {
        for (text, host, port, shown, target) in [
            ("http://127.0.0.1:8080", "127.0.0.1", 8080, "http://127.0.0.1:8080", "/x"),
            ("http://127.0.0.1:8080/", "127.0.0.1", 8080, "http://127.0.0.1:8080", "/x"),
            ("http://jobs.internal", "jobs.internal", 80, "http://jobs.internal", "/x"),
            ("http://[::1]:9000", "::1", 9000, "http://[::1]:9000", "/x"),
            ("http://[::1]", "::1", 80, "http://[::1]", "/x"),
            ("http://gate:81/hapax/", "gate", 81, "http://gate:81/hapax", "/hapax/x"),
        ] {
            let url = ServerUrl::parse(text).unwrap();
            assert_eq!(url.destination(), (host, port), "{text}");
            assert_eq!((&*url.to_string(), &*url.target("/x")), (shown, target), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_and_shown_what_would_be_right() {
        for text in [
            "",
            "localhost",
            "localhost:8080",
            "ftp://host",
            "http://",
            "http:///path",
            "http://host:http",
            "http://host:",
            "http://host:0",
            "http://host:99999",
            "http://host/?a=b",
            "http://host/#a",
            "http://ho st",
            "/ojs/v1",
        ] {
            let failure = refused(text);
            assert!(failure.sentence().ends_with("is not the address of a server"), "{text}: {failure}");
            assert_eq!(failure.advice(), Some("write it as http://127.0.0.1:8080"));
        }
        assert!(!refused("http://a\u{1b}[31m").to_string().contains('\u{1b}'));
    }

    #[test]
    fn encryption_is_refused_with_the_way_out() {
        let failure = refused("https://jobs.example.com");
        assert_eq!(failure.sentence(), "https://jobs.example.com: this command does not speak TLS");
        let hint = failure.advice().unwrap();
        assert!(hint.contains("http://127.0.0.1:8080") && hint.contains("local proxy"), "{hint}");
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        for text in ["http://me:hunter2@host", "https://me:hunter2@host", "hunter2@"] {
            let failure = refused(text).to_string();
            assert!(failure.contains("HAPAX_API_KEY") && !failure.contains("hunter2"), "{failure}");
        }
    }
}
