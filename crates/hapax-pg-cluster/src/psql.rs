//! Statements by way of `psql`, so that a test without a driver can ask too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binaries::{self, Binaries};
use crate::error::Error;

/// The superuser, and the database that is always there.
const USER: &str = "postgres";

/// Part of the socket's name; clusters are apart by their folders.
const PORT: u16 = 5432;

#[derive(Debug, Clone)]
pub(crate) struct Psql {
    program: PathBuf,
    folder: PathBuf,
}

impl Psql {
    /// For the server whose socket is in `folder`.
    pub(crate) fn new(binaries: &Binaries, folder: &Path) -> Self {
        Self { program: binaries.psql(), folder: folder.to_owned() }
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let host = percent_encoded(self.folder.as_os_str().as_encoded_bytes());
        format!("postgres://{USER}@{host}:{PORT}/{}", percent_encoded(database.as_bytes()))
    }

    /// Runs a statement about databases, outside of the one it is about.
    pub(crate) fn administer(&self, sql: &str) -> Result<(), Error> {
        self.query(USER, sql).map(|_| ())
    }

    /// The rows as text, one per line, columns apart by `|`.
    pub(crate) fn query(&self, database: &str, sql: &str) -> Result<String, Error> {
        let output = self.command(database).args(["--command", sql]).output();
        let output = output.map_err(Error::io("start psql"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if !output.status.success() {
            return Err(Error::Refused { sql: sql.to_owned(), complaint: text(&output.stderr) });
        }
        Ok(text(&output.stdout))
    }

    /// `psql` in this database, which ends at the first error.
    pub(crate) fn command(&self, database: &str) -> Command {
        let mut command = binaries::command(&self.program);
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        command.args(["--dbname", &self.url(database)]);
        command
    }
}

fn percent_encoded(bytes: &[u8]) -> String {
    let encoded = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    bytes.iter().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_socket_is_the_host_of_the_url() {
        let psql = Psql { program: PathBuf::new(), folder: PathBuf::from("/a b/c") };
        assert_eq!(psql.url("jobs"), "postgres://postgres@%2Fa%20b%2Fc:5432/jobs");
    }
}
