//! How far it is: one line that changes on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::output::{plural, span};

const ON_TERMINAL_EVERY: Duration = Duration::from_millis(200);
const ELSEWHERE_EVERY: Duration = Duration::from_secs(5);

/// Who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Terminal,
    Log,
    Nobody,
}

/// Shows on standard error how far it is.
#[derive(Debug)]
pub(super) struct Meter {
    verb: &'static str,
    reader: Reader,
    started: Instant,
    shown: Instant,
    /// What was done when it began: an import may go on where another was cut short.
    first: Option<u64>,
}

impl Meter {
    pub(super) fn new(verb: &'static str, quiet: bool) -> Meter {
        let reader = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Reader::Nobody,
            (false, true) => Reader::Terminal,
            (false, false) => Reader::Log,
        };
        let started = now();
        Meter { verb, reader, started, shown: started, first: None }
    }

    /// So many jobs are done, of so many.
    pub(super) fn show(&mut self, done: u64, all: u64) {
        let every = match self.reader {
            Reader::Terminal => ON_TERMINAL_EVERY,
            Reader::Log => ELSEWHERE_EVERY,
            Reader::Nobody => return,
        };
        let first = *self.first.get_or_insert(done);
        let now = now();
        if now - self.shown < every {
            return;
        }
        self.shown = now;
        let line = progress(self.verb, Count { first, done, all }, now - self.started);
        if self.reader == Reader::Terminal {
            // Back to the start of the line, which is cleared.
            eprint!("\r\x1b[2K{line}");
            // What cannot be shown is not worth stopping for.
            let _ = io::stderr().flush();
        } else {
            eprintln!("{line}");
        }
    }

    /// Clears the line. How many seconds it took.
    pub(super) fn end(&self) -> f64 {
        if self.reader == Reader::Terminal && self.shown != self.started {
            eprint!("\r\x1b[2K");
        }
        (now() - self.started).as_secs_f64()
    }
}

#[expect(clippy::disallowed_methods, reason = "measures how long the work takes")]
fn now() -> Instant {
    Instant::now()
}

#[derive(Clone, Copy)]
struct Count {
    first: u64,
    done: u64,
    all: u64,
}

/// `exported 500 of 2000 jobs (25 %), 250 per second, 6 s left`.
fn progress(verb: &str, count: Count, elapsed: Duration) -> String {
    let Count { first, done, all } = count;
    let percent = (done * 100).checked_div(all).unwrap_or(100).min(100);
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let per_second = done.saturating_sub(first).saturating_mul(1000) / millis;
    let left = all.saturating_sub(done).checked_div(per_second).map(Duration::from_secs);
    let left = left.map_or_else(String::new, |left| format!(", {} left", span(left)));
    format!("{verb} {done} of {} ({percent} %), {per_second} per second{left}", plural(all, "job"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: u64, done: u64, all: u64, seconds: u64, expected: &str) {
        let elapsed = Duration::from_secs(seconds);
        assert_eq!(progress("exported", Count { first, done, all }, elapsed), expected);
    }

    #[test]
    fn progress_is_told_with_its_rate_and_the_time_that_is_left() {
        check(0, 500, 2000, 2, "exported 500 of 2000 jobs (25 %), 250 per second, 6 s left");
        check(0, 2000, 2000, 4, "exported 2000 of 2000 jobs (100 %), 500 per second, 0 s left");
        check(1000, 1500, 2000, 1, "exported 1500 of 2000 jobs (75 %), 500 per second, 1 s left");
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        check(0, 0, 0, 0, "exported 0 of 0 jobs (100 %), 0 per second");
        check(0, 0, 1, 9, "exported 0 of 1 job (0 %), 0 per second");
        check(5, 3, 2, 1, "exported 3 of 2 jobs (100 %), 0 per second");
    }
}
