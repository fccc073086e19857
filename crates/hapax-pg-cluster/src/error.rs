//! What can go wrong between a test and its server.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "PostgreSQL is not installed here: `cargo xtask test` installs it (package `postgresql`), \
         or HAPAX_PG_BIN names the folder of its programs"
    )]
    NotInstalled,
    #[error("HAPAX_PG_BIN names {}, which holds no PostgreSQL server", .0.display())]
    NoServerIn(PathBuf),
    #[error("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody` to run it as")]
    NoOwner,
    #[error("cannot {what}")]
    Io {
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("the server did not {step}; its log ends with\n{log}")]
    Server { step: &'static str, log: String },
    #[error("psql refused `{sql}`: {complaint}")]
    Refused { sql: String, complaint: String },
}

impl Error {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    /// Ends the test that cannot go on; a test would do nothing else with the error.
    #[track_caller]
    pub(crate) fn fail(&self) -> ! {
        match self.source() {
            Some(source) => panic!("{self}: {source}"),
            None => panic!("{self}"),
        }
    }
}
