//! The process between a test and its server, which outlives the test for as long as it takes to clean up.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::binaries::{self, Binaries};
use crate::error::Error;
use crate::owner::Owner;

const SCRIPT: &str = include_str!("guard.sh");

/// How much of a log an error repeats.
const LOG_LINES_MAX: usize = 20;

/// The server's parent. It is not the test process, so that something is left to see that process end, by
/// whatever signal: a pipe between them closes.
#[derive(Debug)]
pub(crate) struct Guard {
    log: PathBuf,
    // Dropped in this order: the guard ends when the line to it is closed.
    line: Mutex<Line>,
    _ending: Ending,
}

/// Both directions of the conversation; one question at a time.
#[derive(Debug)]
struct Line {
    questions: PipeWriter,
    answers: BufReader<PipeReader>,
    server: Option<u32>,
}

#[derive(Debug)]
struct Ending(Child);

impl Guard {
    /// Watches over `folder` from here on; it is removed when the guard ends.
    pub(crate) fn spawn(
        folder: &Path,
        binaries: &Binaries,
        owner: Owner,
        environment: &[(String, String)],
    ) -> Result<Self, Error> {
        let pipe = || io::pipe().map_err(Error::io("make a pipe to the server's guard"));
        let ((asked, questions), (answers, answered)) = (pipe()?, pipe()?);
        let log = folder.join("log");
        let complaints = File::create(&log).map_err(Error::io("create the server's log"))?;
        let child = binaries::command("sh")
            .args(["-c", SCRIPT, "guard"])
            .args([folder, binaries.folder()])
            .args(owner.prefix())
            // The server's user may not be allowed to stand where the test does.
            .current_dir(folder)
            .envs([("LC_ALL", "C"), ("TZ", "UTC")])
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(asked)
            .stdout(answered)
            .stderr(complaints)
            // What interrupts the tests at a terminal must not interrupt the cleaning up after them.
            .process_group(0)
            .spawn()
            .map_err(Error::io("start the server's guard"))?;
        let line = Line { questions, answers: BufReader::new(answers), server: None };
        Ok(Self { log, line: Mutex::new(line), _ending: Ending(child) })
    }

    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    pub(crate) fn server(&self) -> Option<u32> {
        self.line().server
    }

    /// Makes the cluster's files.
    pub(crate) fn init(&self) -> Result<(), Error> {
        self.ask("init")
    }

    /// Makes the cluster's files anew, as a copy of those of the server whose socket is in that folder. It will follow
    /// that server.
    pub(crate) fn copy(&self, primary: &Path) -> Result<(), Error> {
        self.ask_about("copy", &primary.display().to_string())
    }

    /// Returns when the server takes connections. One that still runs is stopped before.
    pub(crate) fn start(&self) -> Result<(), Error> {
        self.ask("start")
    }

    /// The server ends without writing out what it has in memory.
    pub(crate) fn stop(&self) -> Result<(), Error> {
        self.ask("stop")
    }

    /// The server and its children end without knowing it.
    pub(crate) fn kill(&self) -> Result<(), Error> {
        self.ask("kill")
    }

    fn ask(&self, word: &'static str) -> Result<(), Error> {
        self.ask_about(word, "")
    }

    /// The only answer that is a number is that to `start`.
    fn ask_about(&self, word: &'static str, what: &str) -> Result<(), Error> {
        let mut line = self.line();
        let answer = line
            .exchange(format!("{word} {what}").trim_end())
            .map_err(Error::io("talk to the server's guard"))?;
        line.server = answer.parse().ok();
        if line.server.is_some() || answer == "done" {
            return Ok(());
        }
        Err(Error::Server { step: word, log: self.log_end() })
    }

    fn log_end(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_MAX)..].join("\n")
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn exchange(&mut self, word: &str) -> io::Result<String> {
        writeln!(self.questions, "{word}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // Whoever drops a cluster may look whether it is gone; that it could not be waited for changes nothing.
        let _ = self.0.wait();
    }
}
