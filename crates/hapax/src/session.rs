//! What a command needs to ask a server and to print the answer.

use hapax_broker::Clock as _;
use hapax_core::Timestamp;

use crate::cli::Remote;
use crate::client::{self, Client, Reply, ServerUrl};
use crate::clock::SystemClock;
use crate::environment;
use crate::failure::Failure;
use crate::output;

/// A server to ask and a form to print in.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Ages are counted to this moment.
    pub(crate) now: Timestamp,
    json: bool,
}

impl Session {
    /// Follows the flags.
    pub(crate) fn open(remote: &Remote) -> Result<Session, Failure> {
        let Remote { server, api_key_file, json } = remote;
        let server = ServerUrl::parse(server)?;
        let key = match api_key_file {
            Some(path) => Some(client::key_of_file(path)?),
            None => environment::shown_key()?,
        };
        Ok(Session { client: Client::new(server, key.as_ref())?, now: SystemClock.now(), json: *json })
    }

    /// Prints an answer: as it came, or what `for_eyes` makes of it.
    pub(crate) fn print(
        &self,
        reply: &Reply,
        for_eyes: impl FnOnce(&Reply) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        if self.json { output::print_json(reply.text()) } else { output::print(&for_eyes(reply)?) }
    }
}
