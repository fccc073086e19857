//! From a name to addresses.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

/// What a resolver promises to answer.
pub type Resolved = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Who knows the addresses of names.
pub trait Resolver: Send + Sync + Debug {
    /// All addresses of a name.
    fn resolve(&self, name: &str, port: u16) -> Resolved;
}

/// The system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str, port: u16) -> Resolved {
        // With a dot at its end the name is whole: no search list of this machine makes a neighbour of it. A name without
        // any dot is one of those.
        let whole = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
        Box::pin(async move { Ok(tokio::net::lookup_host((whole, port)).await?.collect()) })
    }
}

/// The system's own, for names that an operator wrote: one may be short for a neighbour, as `collector.monitoring` is in a
/// cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct NeighbourResolver;

impl Resolver for NeighbourResolver {
    fn resolve(&self, name: &str, port: u16) -> Resolved {
        let name = name.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}
