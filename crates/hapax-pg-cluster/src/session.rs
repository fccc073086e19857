//! A connection that stays open between statements, so that a test can hold locks.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::error::Error;
use crate::psql::Psql;

/// What `psql` prints after each statement.
const DONE: &str = "-- done --";

/// Closed when it is dropped, after what was not committed is undone.
#[derive(Debug)]
pub struct Session {
    child: Child,
    // Closing it is how `psql` is told to end.
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Session {
    pub(crate) fn open(psql: &Psql, database: &str) -> Result<Self, Error> {
        let mut command = psql.command(database);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Error::io("start psql"))?;
        let missing = || Error::io("talk to psql")(io::ErrorKind::BrokenPipe.into());
        let questions = child.stdin.take().ok_or_else(missing)?;
        let answers = child.stdout.take().ok_or_else(missing)?;
        Ok(Self { child, questions: Some(questions), answers: BufReader::new(answers) })
    }

    /// The rows as text, one per line, columns apart by `|`. Returns when the server has answered.
    pub fn query(&mut self, sql: &str) -> Result<String, Error> {
        self.exchange(sql).map_err(Error::io("talk to psql"))?.ok_or_else(|| {
            let complaint = self.complaint();
            Error::Refused { sql: sql.to_owned(), complaint }
        })
    }

    /// None if `psql` ended, which it does after an error.
    fn exchange(&mut self, sql: &str) -> io::Result<Option<String>> {
        let questions = self.questions.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(questions, "{sql};\n\\echo {DONE}")?;
        questions.flush()?;
        let mut rows = String::new();
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if line.trim_end() == DONE {
                return Ok(Some(rows.trim_end().to_owned()));
            }
            rows.push_str(&line);
        }
    }

    fn complaint(&mut self) -> String {
        self.questions = None;
        let complaints = self.child.stderr.take();
        complaints
            .and_then(|stderr| io::read_to_string(stderr).ok())
            .unwrap_or_default()
            .trim_end()
            .to_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without it the server would notice a little later that nobody is there any more.
        let _ = self.exchange("ROLLBACK");
        self.questions = None;
        // It fails only when the child is gone already; that it could not be waited for changes nothing.
        let _ = self.child.wait();
    }
}
