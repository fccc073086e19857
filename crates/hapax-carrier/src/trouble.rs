//! Why there was no answer.

use std::error::Error;
use std::io;

use crate::post::{CONNECT_TIME, TIME_MAX};

/// Why there was no answer. The texts are shown to whoever may subscribe, so they do not tell what is on the network.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("the name of the host could not be resolved")]
    Name(#[source] io::Error),
    #[error("the name of the host has no address")]
    NoAddress,
    #[error("the host has an address that is not on the open internet")]
    Private,
    #[error("the connection could not be made")]
    Connect(#[source] io::Error),
    #[error("the connection was not made within {} seconds", CONNECT_TIME.as_secs())]
    ConnectTooLong,
    #[error("the encrypted connection could not be made")]
    Encryption(#[source] io::Error),
    #[error("encryption is not set up on this machine")]
    NoEncryption,
    #[error("the request could not be sent or its answer not be read")]
    Exchange(#[source] hyper::Error),
    #[error("the request could not be written")]
    Request,
    #[error("there was no answer within {} seconds", TIME_MAX.as_secs())]
    TooLong,
}

impl Trouble {
    /// With what lies behind it, for the operator.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_operator_is_told_what_lies_behind_a_trouble() {
        let trouble = Trouble::Encryption(io::Error::other("unknown issuer"));
        assert_eq!(trouble.to_string(), "the encrypted connection could not be made");
        assert_eq!(trouble.with_causes(), "the encrypted connection could not be made: unknown issuer");
        assert_eq!(Trouble::Private.with_causes(), Trouble::Private.to_string());
    }
}
