//! Log lines, to standard error.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;
use crate::config::LogConfig;
use crate::failure::Failure;

/// From here on log lines are written.
pub(crate) fn start(config: &LogConfig) -> Result<(), Failure> {
    let LogConfig { format, filter } = config;
    let filter = EnvFilter::try_new(filter)
        .map_err(|error| Failure::because(format!("\"{filter}\" is not a filter for log lines"), &error))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).with_target(false).init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Tells whoever started the program why it ended.
pub(crate) fn report(failure: &Failure, format: LogFormat) {
    match format {
        LogFormat::Text => eprintln!("{failure}"),
        LogFormat::Json => {
            // Before the start-up is through nothing writes log lines yet.
            let lines = tracing_subscriber::fmt().with_writer(io::stderr).json().flatten_event(true).finish();
            let write = || tracing::error!(hint = failure.advice(), "{}", failure.sentence());
            tracing::subscriber::with_default(lines, write);
        }
    }
}
