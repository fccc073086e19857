//! The server under test: started on a folder or database of its own, and filled with jobs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::child::Listening;
use crate::client::Connection;
use crate::home::Home;
use crate::job::{self, Policy, QUEUE};
use crate::report;
use crate::request::{Numbers, Request, Shape};

/// Jobs per request when filling.
const FILL_BATCH: usize = 10_000;
/// Fillings longer than this many jobs say how far they are.
const FILL_SILENT_MAX: u64 = 250_000;
const FILL_SAY_EVERY: u64 = 100_000;

/// How the server is started.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub(crate) path: PathBuf,
    pub(crate) store: Option<String>,
}

impl Binary {
    /// Whether it keeps its jobs in memory alone, and takes no folder.
    pub(crate) fn is_forgetful(&self) -> bool {
        self.store.as_deref() == Some("memory")
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Listening,
    /// Jobs waiting in the queue `QUEUE`, by our own count.
    pub(crate) waiting: u64,
}

impl Server {
    pub(crate) async fn start(binary: &Binary, home: &Home, waiting: u64) -> Result<Self> {
        let mut command = Command::new(&binary.path);
        command.arg("serve");
        if !binary.is_forgetful() {
            home.furnish(&mut command);
        }
        if let Some(store) = &binary.store {
            command.arg("--store").arg(store);
        }
        let process = Listening::start(&mut command, &home.log()).await?;
        Ok(Self { process, waiting })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.process.address
    }

    /// Enqueues unique jobs until `target` of them wait.
    pub(crate) async fn fill(&mut self, target: u64, numbers: &Numbers) -> Result<()> {
        let missing = target.saturating_sub(self.waiting);
        if missing == 0 {
            return Ok(());
        }
        let batch = FILL_BATCH.min(usize::try_from(missing)?);
        let mut request = Request::new(self.address(), &job::batch(QUEUE, Policy::Reject, batch));
        let mut connection = Connection::open(self.address()).await?;
        while self.waiting < target {
            request.set_numbers(numbers.take(batch));
            let answer = connection.exchange(request.bytes()).await?;
            let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(300)]);
            ensure!(answer.status == 201, "filling was answered with {}: {text}", answer.status);
            self.waiting += batch as u64;
            if missing > FILL_SILENT_MAX && self.waiting.is_multiple_of(FILL_SAY_EVERY) {
                report::progress(&format!("{} of {target} jobs stored", self.waiting));
            }
        }
        Ok(())
    }

    /// Enqueues the jobs of one request.
    pub(crate) async fn store(&self, batch: &Shape, numbers: &Numbers) -> Result<()> {
        let mut request = Request::new(self.address(), batch);
        request.set_numbers(numbers.take(request.holes()));
        let mut connection = Connection::open(self.address()).await?;
        let answer = connection.exchange(request.bytes()).await?;
        let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(300)]);
        ensure!(answer.status == 201, "a batch was answered with {}: {text}", answer.status);
        Ok(())
    }

    pub(crate) fn count_change(&mut self, change: i64) {
        self.waiting = self.waiting.saturating_add_signed(change);
    }
}
