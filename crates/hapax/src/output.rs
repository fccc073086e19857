//! What commands print: sentences and tables for eyes, or the server's JSON.

mod json;
mod moment;
mod table;
mod text;

use std::io::{self, IsTerminal as _, Write as _};
use std::process;

use crate::failure::Failure;

pub(crate) use moment::{Moment, span};
pub(crate) use table::{Table, facts};
pub(crate) use text::{Text, joined, plural};

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads has seen enough, as in `hapax keys --all | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        written => written.map_err(|error| Failure::because("could not print the answer", &error)),
    }
}

/// Writes JSON of the server to standard output: as it came for programs, set in lines for eyes.
pub(crate) fn print_json(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() {
        return print(&json::pretty(text));
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    print(&format!("{text}{end}"))
}
