//! Values of settings that have a form of their own, read alike from flags and from the file.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use hapax_core::{DurationError, parse_iso8601};
use hapax_store_postgres::{DatabaseUrl, DatabaseUrlError, SchemaName, SchemaNameError};
use serde::Deserialize;

/// An address and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Listen(pub(crate) SocketAddr);

/// A database. Its text is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Database(pub(crate) DatabaseUrl);

/// A schema of a database.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Schema(pub(crate) SchemaName);

/// A duration in the words of ISO 8601.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Span(pub(crate) Duration);

/// A text that must not be shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Hidden(String);

impl Hidden {
    pub(crate) fn new(text: String) -> Hidden {
        Hidden(text)
    }

    /// The text, for whoever has to send it.
    #[cfg(feature = "otlp")]
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden")
    }
}

impl FromStr for Hidden {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Hidden::new(text.to_owned()))
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "\"{text}\" is not an address with a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080"
            )
        };
        text.parse().map(Listen).map_err(|_| wrong())
    }
}

impl FromStr for Database {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        text.parse().map(Database)
    }
}

impl FromStr for Schema {
    type Err = SchemaNameError;

    fn from_str(text: &str) -> Result<Self, SchemaNameError> {
        text.parse().map(Schema)
    }
}

impl FromStr for Span {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        parse_iso8601(text).map(Span)
    }
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl TryFrom<String> for Database {
    type Error = DatabaseUrlError;

    fn try_from(text: String) -> Result<Self, DatabaseUrlError> {
        text.parse()
    }
}

impl TryFrom<String> for Schema {
    type Error = SchemaNameError;

    fn try_from(text: String) -> Result<Self, SchemaNameError> {
        text.parse()
    }
}

impl TryFrom<String> for Span {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        text.parse()
    }
}
