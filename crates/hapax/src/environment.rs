//! What the environment says under names that have no flag. The others stand beside their flags, in `cli.rs`.

use std::env::{self, VarError};

use crate::failure::Failure;
use crate::secret::Secret;
use crate::value::Hidden;

/// Settings of the server under names that are not ours.
#[derive(Default)]
pub(crate) struct Environment {
    /// `OJS_PORT`.
    pub(crate) port: Option<String>,
    /// `OJS_API_KEY`.
    pub(crate) api_key: Option<Secret>,
    /// `DATABASE_URL`.
    pub(crate) database_url: Option<Secret>,
    /// `RUST_LOG`.
    pub(crate) log_filter: Option<String>,
    /// What stands there about a collector.
    pub(crate) otlp: OtlpEnvironment,
}

/// What OpenTelemetry has names for. Others of this machine may be meant by it.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "a program without spans leaves it to others"))]
pub(crate) struct OtlpEnvironment {
    /// `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) endpoint: Option<String>,
    /// `OTEL_EXPORTER_OTLP_HEADERS`.
    pub(crate) headers: Option<Hidden>,
    /// `OTEL_SERVICE_NAME`.
    pub(crate) service_name: Option<String>,
}

impl Environment {
    /// Reads the environment.
    pub(crate) fn read() -> Result<Environment, Failure> {
        let unless_empty = |text: &String| !text.is_empty();
        Ok(Environment {
            port: variable("OJS_PORT")?.filter(unless_empty),
            // An empty key is a mistake, not the wish for an open server.
            api_key: variable("OJS_API_KEY")?.map(|secret| Secret::new(&secret)),
            database_url: variable("DATABASE_URL")?.filter(unless_empty).map(|url| Secret::new(&url)),
            log_filter: variable("RUST_LOG")?.filter(unless_empty),
            otlp: OtlpEnvironment {
                endpoint: variable("OTEL_EXPORTER_OTLP_ENDPOINT")?.filter(unless_empty),
                headers: variable("OTEL_EXPORTER_OTLP_HEADERS")?.filter(unless_empty).map(Hidden::new),
                service_name: variable("OTEL_SERVICE_NAME")?.filter(unless_empty),
            },
        })
    }
}

/// `HAPAX_API_KEY`: what commands show to a server. It has no flag, because every user of a machine can read the
/// command lines of all programs.
pub(crate) fn shown_key() -> Result<Option<Secret>, Failure> {
    let key = variable("HAPAX_API_KEY")?.filter(|text| !text.is_empty());
    Ok(key.map(|secret| Secret::new(&secret)))
}

fn variable(name: &str) -> Result<Option<String>, Failure> {
    #[expect(clippy::disallowed_methods, reason = "this is where the program reads the environment")]
    match env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Failure::new(format!("{name} in the environment is not UTF-8"))),
    }
}
