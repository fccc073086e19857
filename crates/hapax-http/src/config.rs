//! What the program tells the server.

use std::fmt;

use crate::{Entrance, Limits};

/// What the program tells the server.
#[derive(Debug, Clone)]
pub struct Config {
    /// Who may ask; everybody if there are none.
    pub keys: Vec<ApiKey>,
    /// Whether the hooks of the conformance suite are there: everything can be wiped, and a job's `meta` can
    /// steer the answers to heartbeats. For test servers.
    pub conformance: bool,
    /// What is asked of every job.
    pub entrance: Entrance,
    /// How much of everything is too much.
    pub limits: Limits,
    /// The name of the store.
    pub backend: &'static str,
    /// Whether what the store accepted survives a crash.
    pub durable: bool,
    /// The version of the program.
    pub version: &'static str,
}

/// A secret that clients may show.
#[derive(Clone)]
pub struct ApiKey {
    /// What logs call it.
    pub name: Box<str>,
    /// The SHA-256 of the secret: the secret itself is nowhere in the server.
    pub digest: [u8; 32],
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey").field("name", &self.name).finish_non_exhaustive()
    }
}
