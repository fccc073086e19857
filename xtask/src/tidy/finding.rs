//! One thing a rule found, and what to do instead.

use std::fmt;

/// Ordered by place, so that the list reads file by file.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) advice: String,
    pub(crate) severity: Severity,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Violation,
    Warning,
}

impl Finding {
    pub(crate) fn violation(path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, advice: advice.into(), severity: Severity::Violation }
    }

    pub(crate) fn warning(path: &str, line: usize, advice: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::violation(path, line, advice) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.advice)
    }
}
