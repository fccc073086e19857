//! Who can reach the server, and whether that is safe.

use std::net::SocketAddr;

use super::Config;
use crate::failure::Failure;

/// Refuses to be open to a network by mistake: that is how queues of others were taken over.
pub(super) fn check(config: &Config, insecure: bool) -> Result<(), Failure> {
    let listen = config.listen;
    if is_this_machine(listen) {
        return Ok(());
    }
    if config.conformance {
        let sentence = format!(
            "with --conformance anybody may wipe everything, and {listen} can be reached from outside"
        );
        return Err(Failure::new(sentence).hint("listen on 127.0.0.1, or leave --conformance out"));
    }
    if config.keys.is_empty() && !insecure {
        let sentence = format!("{listen} can be reached from outside, and no API key is required");
        let hint =
            "require keys with --api-key-file FILE, or say --insecure if a proxy in front asks who calls";
        return Err(Failure::new(sentence).hint(hint));
    }
    Ok(())
}

fn is_this_machine(listen: SocketAddr) -> bool {
    listen.ip().to_canonical().is_loopback()
}
