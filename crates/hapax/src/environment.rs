//! What the environment says under names that are not ours. Ours stand beside their flags, in `cli.rs`.

use std::env::{self, VarError};

use crate::failure::Failure;
use crate::keys::Secret;

/// Settings under other names.
#[derive(Default)]
pub(crate) struct Environment {
    /// `OJS_PORT`.
    pub(crate) port: Option<String>,
    /// `OJS_API_KEY`.
    pub(crate) api_key: Option<Secret>,
    /// `RUST_LOG`.
    pub(crate) log_filter: Option<String>,
}

impl Environment {
    /// Reads the environment.
    pub(crate) fn read() -> Result<Environment, Failure> {
        let unless_empty = |text: &String| !text.is_empty();
        Ok(Environment {
            port: variable("OJS_PORT")?.filter(unless_empty),
            // An empty key is a mistake, not the wish for an open server.
            api_key: variable("OJS_API_KEY")?.map(|secret| Secret::new(&secret)),
            log_filter: variable("RUST_LOG")?.filter(unless_empty),
        })
    }
}

fn variable(name: &str) -> Result<Option<String>, Failure> {
    #[expect(clippy::disallowed_methods, reason = "this is where the program reads the environment")]
    match env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::new(format!("{name} in the environment is not UTF-8"))),
    }
}
