//! Where a subscription is told: a URL that leads where it says.
//!
//! Readers of URLs differ in what they make of odd ones, and who may choose where a server sends requests lives on such
//! differences. So only the plain form is taken: a scheme, a host that is a name or an address in its usual form, a
//! port, a path. What a reader might take for something else is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::is_public;

/// Longest URL.
pub const URL_BYTES_MAX: usize = 2048;
/// Longest name of a host (RFC 1035).
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// How far deliveries may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Only to the open internet.
    #[default]
    Public,
    /// To neighbours too: this machine, private networks.
    Everywhere,
}

impl Reach {
    /// Whether an address may be sent to.
    pub fn allows(self, address: IpAddr) -> bool {
        self == Reach::Everywhere || is_public(address)
    }
}

/// Where a subscription is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Box<str>,
    is_encrypted: bool,
    host: Host,
    port: u16,
    /// From where in the URL the path begins.
    target_start: usize,
}

/// The host of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name that has yet to be resolved.
    Name(Box<str>),
    /// An address.
    Address(IpAddr),
}

/// Why a URL is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EndpointError {
    #[error("must have at most {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("must begin with https:// or http://")]
    Scheme,
    #[error(
        "must have visible ASCII characters only, no backslash and no fragment; others can be percent-encoded"
    )]
    Character,
    #[error("must not carry a user or a password; the signature says who sends")]
    User,
    #[error("must name a host: a DNS name, a dotted IPv4 address or an IPv6 address in brackets")]
    Host,
    #[error("must have a port from 1 to 65535, or none")]
    Port,
    #[error(
        "leads to {0}, which is not on the open internet; a server takes it with --webhook-allow-private"
    )]
    Private(Box<str>),
}

impl Endpoint {
    /// Reads a URL. Names are not resolved here: where they lead is checked at each delivery.
    pub fn parse(url: &str, reach: Reach) -> Result<Endpoint, EndpointError> {
        if url.len() > URL_BYTES_MAX {
            return Err(EndpointError::TooLong);
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#\"<>^`{|}".contains(&byte)) {
            return Err(EndpointError::Character);
        }
        let scheme = |name: &str| url.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let (is_encrypted, start) = match () {
            () if scheme("https://") => (true, 8),
            () if scheme("http://") => (false, 7),
            () => return Err(EndpointError::Scheme),
        };
        let rest = &url[start..];
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let authority = &rest[..end];
        if authority.contains('@') {
            return Err(EndpointError::User);
        }
        let (host, port) = split_port(authority)?;
        let host = read_host(host)?;
        host.check(reach)?;
        let port = port.unwrap_or(if is_encrypted { 443 } else { 80 });
        Ok(Endpoint { url: url.into(), is_encrypted, host, port, target_start: start + end })
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether the way there is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What to ask the host for: the path and the query.
    pub fn target(&self) -> String {
        let target = &self.url[self.target_start..];
        if target.starts_with('/') { target.into() } else { format!("/{target}") }
    }

    /// The `Host` header: without the port if it is the usual one.
    pub fn authority(&self) -> String {
        let usual = if self.is_encrypted { 443 } else { 80 };
        if self.port == usual { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

impl Host {
    /// Names that can only mean this machine or a neighbour are refused like their addresses.
    fn check(&self, reach: Reach) -> Result<(), EndpointError> {
        let private = || EndpointError::Private(self.to_string().into());
        match self {
            Host::Address(address) if !reach.allows(*address) => Err(private()),
            Host::Name(name) if reach == Reach::Public && is_local_name(name) => Err(private()),
            Host::Address(_) | Host::Name(_) => Ok(()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => address.fmt(f),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// A name that no public name server knows: of one label, or under a domain kept for local use (RFC 6761, RFC 8375).
fn is_local_name(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    !name.contains('.')
        || ["localhost", "local", "internal", "lan", "home", "corp", "localdomain"].contains(&last)
        || name.ends_with(".home.arpa")
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), EndpointError> {
    let after_host = if authority.starts_with('[') {
        authority.find(']').map_or(authority.len(), |end| end + 1)
    } else {
        authority.find(':').unwrap_or(authority.len())
    };
    let (host, rest) = authority.split_at(after_host);
    if rest.is_empty() {
        return Ok((host, None));
    }
    let digits = rest.strip_prefix(':').ok_or(EndpointError::Host)?;
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|port| is_plain && *port > 0).ok_or(EndpointError::Port)?;
    Ok((host, Some(port)))
}

fn read_host(text: &str) -> Result<Host, EndpointError> {
    if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = inner.parse().map_err(|_| EndpointError::Host)?;
        return Ok(Host::Address(IpAddr::V6(address)));
    }
    // A dot at the end says that the name is whole, which it is taken for anyhow.
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    // What ends in a number is an address to some readers, in whatever base and with however many parts.
    if last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit()) {
        let address: Ipv4Addr = text.parse().map_err(|_| EndpointError::Host)?;
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    let is_label = |label: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label.bytes().all(is_plain)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.len() <= HOST_BYTES_MAX && name.split('.').all(is_label) {
        Ok(Host::Name(name.into()))
    } else {
        Err(EndpointError::Host)
    }
}

#[cfg(test)]
mod tests;
