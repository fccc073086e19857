//! A child process that does not outlive its guard.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The guard of a child.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts a child whose standard output and standard error go to the end of one file.
    #[track_caller]
    pub(crate) fn spawn(command: &mut Command, log: &Path) -> Process {
        let log = or_panic("the log", File::options().create(true).append(true).open(log));
        let again = or_panic("the log once more", log.try_clone());
        command.stdin(Stdio::null()).stdout(log).stderr(again);
        Process(or_panic(&format!("starting {}", command.get_program().display()), command.spawn()))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    #[track_caller]
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        or_panic("asking for the child's status", self.0.try_wait())
    }

    /// Ends it as a crash would.
    #[track_caller]
    pub(crate) fn kill(&mut self) {
        or_panic("kill -9", self.0.kill());
        or_panic("the end of the killed child", self.0.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the child is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[track_caller]
pub(crate) fn or_panic<T>(what: &str, result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}
