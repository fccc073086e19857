//! Where an export is read from.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

const BUFFER_BYTES: usize = 1 << 18;

/// A file, or standard input.
#[derive(Debug)]
pub(super) enum Input {
    File(PathBuf, File),
    StandardInput,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Input, Failure> {
        if path.as_os_str() == "-" {
            if io::stdin().is_terminal() {
                return Err(Failure::misuse("there is no export on standard input, which is a terminal")
                    .hint("name a file, as in `hapax import jobs.ndjson`"));
            }
            return Ok(Input::StandardInput);
        }
        let file = File::open(path);
        let file =
            file.map_err(|error| Failure::because(format!("could not open {}", path.display()), &error))?;
        Ok(Input::File(path.into(), file))
    }

    pub(super) fn reader(self) -> Box<dyn BufRead> {
        match self {
            Input::File(_, file) => Box::new(BufReader::with_capacity(BUFFER_BYTES, file)),
            Input::StandardInput => Box::new(BufReader::with_capacity(BUFFER_BYTES, io::stdin())),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::File(path, _) => write!(f, "{}", path.display()),
            Input::StandardInput => f.write_str("standard input"),
        }
    }
}
