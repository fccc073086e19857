//! A child process that listens on a port of its own and does not outlive its guard.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::client::Connection;
use crate::clock;

const START_MAX: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOG_BYTES_SHOWN: usize = 2_000;

#[derive(Debug)]
pub(crate) struct Listening {
    child: Child,
    log: PathBuf,
    pub(crate) address: SocketAddr,
    /// From the start of the process to its first healthy answer.
    pub(crate) started_in: Duration,
}

impl Listening {
    /// Starts `command` with `--listen` added, and waits until its health answers 200.
    pub(crate) async fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let address = free_address()?;
        let started = clock::now();
        command.arg("--listen").arg(address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log)?);
        let child =
            command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut listening = Self { child, log: log.to_owned(), address, started_in: Duration::ZERO };
        while !healthy(address).await {
            listening.check_alive()?;
            listening.started_in = clock::now() - started;
            if listening.started_in > START_MAX {
                bail!("not healthy after {START_MAX:?}: {}", listening.log_end());
            }
            clock::pause(LOOK_EVERY).await;
        }
        listening.started_in = clock::now() - started;
        Ok(listening)
    }

    /// The resident memory of the process.
    pub(crate) fn rss_bytes(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kibibytes * 1024)
    }

    /// The processor time that the process has taken, in microseconds; the kernel counts it in ticks.
    pub(crate) fn processor_us(&self) -> Result<f64> {
        const TICK_US: f64 = 10_000.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name stands in brackets and may hold anything; user and system time are the 12th and 13th after it.
        let (_, figures) = stat.rsplit_once(')').context("no name in stat")?;
        let mut times = figures.split_ascii_whitespace().skip(11).take(2);
        let mut next = || Ok::<f64, anyhow::Error>(times.next().context("no times in stat")?.parse()?);
        Ok((next()? + next()?) * TICK_US)
    }

    pub(crate) fn check_alive(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the child ended with {status}: {}", self.log_end());
        }
        Ok(())
    }

    fn log_end(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_else(|error| error.to_string().into_bytes());
        String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_BYTES_SHOWN)..]).into_owned()
    }
}

impl Drop for Listening {
    /// Killed, not asked: what the server acknowledged must survive that, and a start after it is the hard one.
    fn drop(&mut self) {
        // Both fail only when the child is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

async fn healthy(address: SocketAddr) -> bool {
    let request = format!("GET /ojs/v1/health HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let Ok(mut connection) = Connection::open(address).await else { return false };
    connection.exchange(request.as_bytes()).await.is_ok_and(|answer| answer.status == 200)
}
