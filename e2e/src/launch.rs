//! How the server is started.

use std::env;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use tempfile::TempDir;

use crate::keeper::{Keeper, Store};
use crate::process::{Process, or_panic, read_lossy};
use crate::{Server, clock};

const EXIT_MAX: Duration = Duration::from_secs(30);

/// A command line for the server, complete but for the address and the place of the jobs.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    args: Vec<String>,
    wrapper: Vec<String>,
    /// Left open, it is the one that this run of the tests is about.
    store: Option<Store>,
    data: Option<PathBuf>,
    key: Option<String>,
}

/// How a program ended that was expected to.
#[derive(Debug)]
pub struct Exit {
    /// Its status.
    pub status: ExitStatus,
    /// What it printed.
    pub output: String,
}

impl Launch {
    /// On a data folder, whatever store the other tests run on: for tests of the files themselves.
    pub fn embedded() -> Launch {
        Launch { store: Some(Store::Embedded), ..Launch::default() }
    }

    /// On memory alone, whatever store the other tests run on.
    pub fn memory() -> Launch {
        Launch::embedded().args(&["--store", "memory"])
    }

    /// With more arguments. Those that name a store leave no other.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Launch {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// Started by another program, such as strace, which must leave the server in the child's place.
    #[must_use]
    pub fn under(mut self, wrapper: &[&str]) -> Launch {
        self.wrapper = wrapper.iter().map(|arg| (*arg).to_owned()).collect();
        self
    }

    /// On a data folder of the test's own.
    #[must_use]
    pub fn data(mut self, data: &Path) -> Launch {
        (self.store, self.data) = (Some(Store::Embedded), Some(data.to_owned()));
        self
    }

    /// With clients that send this API key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Launch {
        self.key = Some(key.to_owned());
        self
    }

    /// The server, healthy.
    #[track_caller]
    pub fn start(self) -> Server {
        Server::start_in(or_panic("a temporary folder", TempDir::new()), self)
    }

    /// The server, healthy, or how it ended instead.
    #[track_caller]
    pub fn try_start(self, home: TempDir) -> Result<Server, (TempDir, Exit)> {
        Server::try_start_in(home, self)
    }

    /// Runs the server where it must not stay up, and says how it ended.
    #[track_caller]
    pub fn run(&self) -> Exit {
        let home = or_panic("a temporary folder", TempDir::new());
        let keeper = self.keeper_in(home.path());
        self.finish(self.serving(free_address(), &keeper), home.path())
    }

    /// Runs the program with these arguments alone, and says how it ended.
    #[track_caller]
    pub fn run_program(args: &[&str]) -> Exit {
        let home = or_panic("a temporary folder", TempDir::new());
        let mut command = Command::new(binary());
        command.env_clear().args(args).current_dir(home.path());
        Launch::default().finish(command, home.path())
    }

    /// The program with these arguments alone, for tests that hold its ends themselves.
    #[track_caller]
    pub fn program(args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.env_clear().args(args);
        command
    }

    /// The folder in which the program is.
    #[track_caller]
    pub fn program_folder() -> PathBuf {
        binary().parent().map(Path::to_path_buf).unwrap_or_default()
    }

    #[track_caller]
    fn finish(&self, mut command: Command, home: &Path) -> Exit {
        let log = home.join("output");
        let mut process = Process::spawn(&mut command, &log);
        let what = format!("the program ends, started with {:?}", self.args);
        let status = clock::eventually(&what, EXIT_MAX, || process.exit_status());
        Exit { status, output: read_lossy(&log) }
    }

    pub(crate) fn serve(&self, address: SocketAddr, home: &Path, keeper: &Keeper) -> Process {
        Process::spawn(&mut self.serving(address, keeper), &home.join("log"))
    }

    /// A new place for the jobs of a server in this folder.
    #[track_caller]
    pub(crate) fn keeper_in(&self, home: &Path) -> Keeper {
        let store =
            if self.names_store() { Store::Embedded } else { self.store.unwrap_or_else(Store::of_this_run) };
        Keeper::new(store, self.data.clone().unwrap_or_else(|| home.join("data")))
    }

    /// The address that the arguments name, or a free one.
    pub(crate) fn address(&self) -> SocketAddr {
        let named = self.args.iter().skip_while(|arg| *arg != "--listen").nth(1);
        named.and_then(|text| text.parse().ok()).unwrap_or_else(free_address)
    }

    pub(crate) fn api_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn names_store(&self) -> bool {
        self.args.iter().any(|arg| arg == "--store" || arg == "--database-url")
    }

    fn serving(&self, address: SocketAddr, keeper: &Keeper) -> Command {
        let mut command = match self.wrapper.split_first() {
            None => Command::new(binary()),
            Some((program, args)) => {
                let mut command = Command::new(program);
                command.args(args).arg(binary());
                command
            }
        };
        // What the tester's shell sets is no part of the test.
        command.env_clear().arg("serve");
        if !self.args.iter().any(|arg| arg == "--listen") {
            command.args(["--listen", &address.to_string()]);
        }
        // A server that keeps its jobs in memory alone takes no folder.
        if !self.args.iter().any(|arg| arg == "memory") {
            command.args(keeper.args());
        }
        command.args(&self.args);
        command
    }
}

fn free_address() -> SocketAddr {
    let listener = or_panic("a free port", TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    or_panic("the number of the free port", listener.local_addr())
}

#[expect(clippy::disallowed_methods, reason = "the one place that asks where the server is")]
#[track_caller]
fn binary() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/hapax");
    let binary = env::var("HAPAX_BIN").map_or_else(|_| built(), PathBuf::from);
    assert!(
        binary.is_file(),
        "there is no {}: build it with cargo build -p hapax, or run cargo xtask test",
        binary.display()
    );
    binary
}
