//! A throw-away PostgreSQL, kept by a program of ours for as long as its input is open.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::{command, workspace};

const PROGRAM: &str = "hapax-pg-cluster";

#[derive(Debug)]
pub(crate) struct Cluster {
    keeper: Child,
    url: String,
}

impl Cluster {
    /// Builds the program and waits until its server takes connections.
    pub(crate) fn start() -> Result<Self> {
        command::run(&mut workspace::cargo(&["build", "-p", PROGRAM]))?;
        let mut program = Command::new(workspace::built(PROGRAM));
        let mut keeper = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start PostgreSQL")?;
        let mut url = String::new();
        if let Some(output) = keeper.stdout.take() {
            BufReader::new(output).read_line(&mut url).context("cannot read where PostgreSQL is")?;
        }
        let cluster = Self { keeper, url: url.trim_end().to_owned() };
        ensure!(!cluster.url.is_empty(), "PostgreSQL did not start; {PROGRAM} says why");
        Ok(cluster)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The end of its input ends it; what it could not remove is in a temporary folder.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
