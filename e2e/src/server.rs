//! A running server on a folder or a database of its own, which does not outlive its guard.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::keeper::Keeper;
use crate::process::{Process, or_panic, read_lossy};
use crate::{Client, Exit, Launch, Request, clock};

const START_MAX: Duration = Duration::from_mins(1);
/// Another process may take a port between our look and the server's.
const PORTS_TRIED_MAX: usize = 5;
const LOG_LINES_SHOWN: usize = 40;

/// A server that answers.
#[derive(Debug)]
pub struct Server {
    // Dropped in this order: what keeps the jobs goes after the process that uses it.
    process: Process,
    address: SocketAddr,
    launch: Launch,
    keeper: Keeper,
    home: TempDir,
}

impl Server {
    /// A server with the defaults and no jobs.
    #[track_caller]
    pub fn start() -> Server {
        Launch::default().start()
    }

    /// A server in a folder that the test prepared.
    #[track_caller]
    pub fn start_in(home: TempDir, launch: Launch) -> Server {
        match Server::try_start_in(home, launch) {
            Ok(server) => server,
            Err((_, exit)) => panic!("the server did not start, {}:\n{}", exit.status, tail(&exit.output)),
        }
    }

    /// A server in a folder that the test prepared, or how it ended instead.
    #[track_caller]
    pub(crate) fn try_start_in(home: TempDir, launch: Launch) -> Result<Server, (TempDir, Exit)> {
        let keeper = launch.keeper_in(home.path());
        match up(home.path(), &keeper, &launch) {
            Ok((process, address)) => Ok(Server { process, address, launch, keeper, home }),
            Err(exit) => Err((home, exit)),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new client, with a connection of its own.
    pub fn client(&self) -> Client {
        client(self.address, &self.launch)
    }

    /// The data folder of a server that was launched as embedded.
    #[track_caller]
    pub fn data(&self) -> &Path {
        self.keeper.folder()
    }

    /// A folder that lives as long as the server, around its data.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Everything it has printed, over all its lives.
    pub fn log(&self) -> String {
        read_lossy(&self.home.path().join("log"))
    }

    /// Ends it as a crash would: it gets no chance to do anything.
    #[track_caller]
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends a signal by name, such as `TERM`.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(or_panic("the kill program", status).success(), "cannot send {name}");
    }

    /// How it ended, if it has.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.process.exit_status()
    }

    /// Waits for it to end by itself.
    #[track_caller]
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        clock::eventually("the server ends", limit, || self.exit_status())
    }

    /// Starts it again with the same jobs, after it ended.
    #[track_caller]
    pub fn start_again(&mut self) {
        assert!(self.exit_status().is_some(), "the server is still running");
        match up(self.home.path(), &self.keeper, &self.launch) {
            Ok((process, address)) => (self.process, self.address) = (process, address),
            Err(exit) => panic!("the server did not start again, {}", exit.status),
        }
    }

    /// Starts it again in another way, with the same jobs.
    #[track_caller]
    pub fn start_again_as(&mut self, launch: Launch) {
        self.launch = launch;
        self.start_again();
    }

    /// A crash and a new start with the same jobs.
    #[track_caller]
    pub fn crash_and_restart(&mut self) {
        self.kill();
        self.start_again();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the end of the server's log:\n{}", tail(&self.log()));
        }
    }
}

fn client(address: SocketAddr, launch: &Launch) -> Client {
    let client = Client::new(address);
    match launch.api_key() {
        Some(key) => client.with_key(key),
        None => client,
    }
}

/// A healthy server and its address, or how it ended instead.
#[track_caller]
fn up(home: &Path, keeper: &Keeper, launch: &Launch) -> Result<(Process, SocketAddr), Exit> {
    let log = home.join("log");
    let mut tries = 0;
    loop {
        let address = launch.address();
        let earlier_lives = read_lossy(&log).len();
        let mut process = launch.serve(address, home, keeper);
        // Another process on the same port would answer too, until ours has found the port taken.
        let is_ours = || listens(&read_lossy(&log)[earlier_lives..], address);
        let is_healthy = || {
            let answer = client(address, launch).try_send(&Request::new("GET", "/ojs/v1/health"));
            answer.is_ok_and(|answer| answer.status == 200)
        };
        let ended = clock::eventually("the server is healthy", START_MAX, || match process.exit_status() {
            Some(status) => Some(Some(status)),
            None => (is_ours() && is_healthy()).then_some(None),
        });
        let Some(status) = ended else { return Ok((process, address)) };
        let output = read_lossy(&log);
        tries += 1;
        if tries == PORTS_TRIED_MAX || !output.contains("in use") {
            return Err(Exit { status, output });
        }
    }
}

/// Whether a log says that its server listens there, to people or to programs.
fn listens(log: &str, address: SocketAddr) -> bool {
    log.contains(&format!("listens on http://{address}\n"))
        || log.contains(&format!("\"listen\":\"{address}\""))
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
}
