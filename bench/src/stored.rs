//! The server that holds many jobs: filled once, copied, and put back when a case has made it grow.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::home::Home;
use crate::report;
use crate::request::Numbers;
use crate::server::{Binary, Server};

/// What a start with many waiting jobs costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Start {
    pub(crate) jobs: u64,
    pub(crate) seconds: f64,
    pub(crate) rss_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Stored {
    binary: Binary,
    jobs: u64,
    numbers: Arc<Numbers>,
    directory: PathBuf,
    /// `None` only while it is being put back; before its home, so that it is dropped first.
    server: Option<Server>,
    home: Home,
    /// What was stored, untouched.
    copy: Option<Home>,
    pub(crate) start: Option<Start>,
}

impl Stored {
    /// Fills a server with `jobs` jobs, kills it, and starts it again.
    pub(crate) async fn prepare(
        binary: &Binary,
        (directory, home): (PathBuf, Home),
        jobs: u64,
        numbers: &Arc<Numbers>,
    ) -> Result<Self> {
        let mut server = Server::start(binary, &home, 0).await?;
        report::progress(&format!("storing {jobs} jobs"));
        server.fill(jobs, numbers).await?;
        let (binary, numbers) = (binary.clone(), Arc::clone(numbers));
        let mut stored =
            Self { binary, jobs, numbers, directory, server: Some(server), home, copy: None, start: None };
        if stored.survives_restart() {
            stored.restart().await?;
        }
        Ok(stored)
    }

    /// The server with at least as many waiting jobs as promised, and not many more.
    pub(crate) async fn ready(&mut self) -> Result<&mut Server> {
        let grown = self.server.as_ref().is_none_or(|server| server.waiting > self.jobs + self.jobs / 4);
        if grown && self.survives_restart() {
            report::progress("putting the stored jobs back");
            self.put_back().await?;
        }
        let server = self.server.as_mut().context("the server with stored jobs did not start again")?;
        server.fill(self.jobs, &self.numbers).await?;
        Ok(server)
    }

    async fn restart(&mut self) -> Result<()> {
        drop(self.server.take());
        self.copy = Some(self.home.copy(&self.directory)?);
        let server = Server::start(&self.binary, &self.home, self.jobs).await?;
        let seconds = server.process.started_in.as_secs_f64();
        let rss_bytes = server.process.rss_bytes()?;
        report::progress(&format!("started with {} waiting jobs in {seconds:.2} s", self.jobs));
        self.start = Some(Start { jobs: self.jobs, seconds, rss_bytes });
        self.server = Some(server);
        Ok(())
    }

    async fn put_back(&mut self) -> Result<()> {
        drop(self.server.take());
        if let Some(copy) = &self.copy {
            self.home = copy.copy(&self.directory)?;
        }
        self.server = Some(Server::start(&self.binary, &self.home, self.jobs).await?);
        Ok(())
    }

    fn survives_restart(&self) -> bool {
        !self.binary.is_forgetful()
    }
}
