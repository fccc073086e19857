//! What the server says when it is up: where it is, where the jobs are, who may ask, and what to try.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::config::StoreConfig;

/// Facts about a server that is up.
#[derive(Debug)]
pub(crate) struct Banner<'c> {
    pub(crate) listen: SocketAddr,
    pub(crate) store: &'c StoreConfig,
    pub(crate) keys: usize,
    pub(crate) conformance: bool,
}

impl Banner<'_> {
    /// The same for machines.
    pub(crate) fn log(&self) {
        let Banner { listen, store, keys, conformance } = self;
        let (store, data) = match store {
            StoreConfig::Embedded { data } => ("embedded", Some(data.display().to_string())),
            StoreConfig::Memory => ("memory", None),
            StoreConfig::Postgres { database, .. } => ("postgres", Some(database.to_string())),
        };
        let data = data.map(tracing::field::display);
        tracing::info!(%listen, store, data, keys, conformance, version = crate::VERSION, "listening");
    }

    /// An address that this machine can call.
    fn reachable(&self) -> SocketAddr {
        let ip = match self.listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        (ip, self.listen.port()).into()
    }
}

impl fmt::Display for Banner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = format!("http://{}", self.reachable());
        writeln!(f, "hapax {} listens on http://{}", crate::VERSION, self.listen)?;
        match self.store {
            StoreConfig::Embedded { data } => {
                writeln!(f, "  jobs   in {}, on disk before any answer", data.display())?;
            }
            StoreConfig::Memory => writeln!(f, "  jobs   in memory: gone when the server stops")?,
            StoreConfig::Postgres { database, schema, .. } => {
                writeln!(
                    f,
                    "  jobs   in {database}, schema {}, committed before any answer",
                    schema.as_str()
                )?;
            }
        }
        match self.keys {
            0 => writeln!(f, "  keys   none required: whoever reaches this address may do everything")?,
            1 => writeln!(f, "  keys   required (1 known)")?,
            n => writeln!(f, "  keys   required ({n} known)")?,
        }
        if self.conformance {
            writeln!(f, "  hooks  of the conformance suite: anybody may wipe everything")?;
        }
        let key = if self.keys > 0 { " -H \"Authorization: Bearer $SECRET\"" } else { "" };
        write!(
            f,
            "\nEnqueue a job that exists once, however often you run this:\n\n  \
             curl {url}/ojs/v1/jobs -H 'Content-Type: application/json'{key} -d '{JOB}'\n"
        )
    }
}

const JOB: &str = r#"{"type":"email.send","args":[{"user_id":42}],"unique":{"keys":["type","args"],"args_keys":["user_id"],"on_conflict":"ignore"}}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_this_machine_says_what_to_try() {
        let store = StoreConfig::Embedded { data: "./hapax-data".into() };
        let listen = "127.0.0.1:8080".parse().unwrap();
        let text = Banner { listen, store: &store, keys: 0, conformance: false }.to_string();
        assert!(text.contains("listens on http://127.0.0.1:8080\n"), "{text}");
        assert!(text.contains("jobs   in ./hapax-data, on disk"), "{text}");
        assert!(text.contains("keys   none required"), "{text}");
        assert!(text.contains("curl http://127.0.0.1:8080/ojs/v1/jobs"), "{text}");
        assert!(!text.contains("Authorization") && !text.contains("conformance"), "{text}");
    }

    #[test]
    fn a_server_for_others_is_tried_from_here_with_a_key() {
        let listen = "[::]:9000".parse().unwrap();
        let text = Banner { listen, store: &StoreConfig::Memory, keys: 2, conformance: false }.to_string();
        assert!(text.contains("listens on http://[::]:9000\n"), "{text}");
        assert!(text.contains("jobs   in memory"), "{text}");
        assert!(text.contains("required (2 known)"), "{text}");
        assert!(text.contains("curl http://[::1]:9000/ojs/v1/jobs"), "{text}");
        assert!(text.contains("Bearer $SECRET"), "{text}");
    }
}
