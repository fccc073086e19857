//! Log lines, to standard error.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::cli::LogFormat;
use crate::config::LogConfig;
use crate::failure::Failure;

/// The database's driver writes the parameters of its statements, which are the arguments and the results of jobs, and
/// hardly anything else. No filter of the operator's turns that on.
const UNHEARD: [&str; 3] =
    ["tokio_postgres=off", "tokio_postgres::query=off", "tokio_postgres::simple_query=off"];

/// From here on log lines are written.
pub(crate) fn start(config: &LogConfig) -> Result<(), Failure> {
    let LogConfig { format, filter } = config;
    check_levels(filter)?;
    let refused =
        |error: ParseError| Failure::because(format!("\"{filter}\" is not a filter for log lines"), &error);
    let mut filter = EnvFilter::try_new(filter).map_err(refused)?;
    for directive in UNHEARD {
        filter = filter.add_directive(directive.parse().map_err(refused)?);
    }
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

/// A bare word that is no level would be read as the name of a module, and a typo would switch the log off.
fn check_levels(filter: &str) -> Result<(), Failure> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let words =
        filter.split(',').map(str::trim).filter(|word| !word.is_empty() && !word.contains(['=', '_', ':']));
    match words.into_iter().find(|word| !LEVELS.contains(&word.to_ascii_lowercase().as_str())) {
        Some(word) => Err(Failure::new(format!("\"{word}\" is not a log level"))
            .hint("use off, error, warn, info, debug or trace, or a filter such as info,hapax_http=debug")),
        None => Ok(()),
    }
}
