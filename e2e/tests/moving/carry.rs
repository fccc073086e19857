//! Stores, and the commands that carry things between them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::{Launch, Server};
use hapax_pg_cluster::{Cluster, Database};
use serde_json::Value;
use tempfile::TempDir;

/// Where jobs are.
#[derive(Debug)]
pub(crate) enum Place {
    Folder(PathBuf),
    Database(Database),
}

impl Place {
    pub(crate) fn database() -> Place {
        Place::Database(Cluster::shared().database())
    }

    /// The flags that name it.
    pub(crate) fn flags(&self) -> [String; 2] {
        match self {
            Place::Folder(path) => ["--data".into(), path.to_string_lossy().into_owned()],
            Place::Database(database) => ["--database-url".into(), database.url()],
        }
    }

    /// A server on it.
    #[track_caller]
    pub(crate) fn serve(&self) -> Server {
        match self {
            Place::Folder(path) => Launch::embedded().data(path).start(),
            Place::Database(database) => Launch::default().args(&["--database-url", &database.url()]).start(),
        }
    }

    /// Runs a command about it. What it printed, if it went well.
    #[track_caller]
    pub(crate) fn command(&self, command: &str, file: &Path) -> Command {
        let [name, value] = self.flags();
        Launch::program(&[command, &file.to_string_lossy(), &name, &value, "--json"])
    }

    /// Writes everything to the file. The summary.
    #[track_caller]
    pub(crate) fn export(&self, file: &Path) -> Value {
        summary(&self.command("export", file).arg("--force").output().expect("the program runs"))
    }

    /// Reads everything from the file. The summary.
    #[track_caller]
    pub(crate) fn import(&self, file: &Path) -> Value {
        summary(&self.command("import", file).output().expect("the program runs"))
    }
}

#[track_caller]
fn summary(output: &Output) -> Value {
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let summary = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&summary).unwrap_or_else(|error| panic!("{error} in {summary}"))
}

/// What both sides of a move have in common.
#[track_caller]
pub(crate) fn same(one: &Value, other: &Value) {
    for member in ["queues", "jobs", "memos", "sha256"] {
        assert!(!one[member].is_null(), "no {member} in {one}");
        assert_eq!(one[member], other[member], "{member}: {one} and {other}");
    }
}

/// The lines below the first, which tells of the occasion.
pub(crate) fn lines(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("the export is there");
    text.split_once('\n').expect("a first line").1.to_owned()
}

pub(crate) fn home() -> TempDir {
    TempDir::new().expect("a folder")
}

/// Ends a server in order.
#[track_caller]
pub(crate) fn stop(mut server: Server) {
    server.signal("TERM");
    assert!(server.wait(e2e::clock::SOON).success());
}
