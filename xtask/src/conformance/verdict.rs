//! What a case's result means, given what was expected of it.

use std::fmt;

use anyhow::{Result, bail};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) status: Status,
    pub(crate) messages: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed,
    FailedAsExpected,
    PassedAgainstExpectation,
    Skipped,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    failed_as_expected: usize,
    skipped: usize,
}

impl Status {
    pub(crate) fn parse(word: &str) -> Result<Self> {
        match word {
            "pass" => Ok(Self::Passed),
            "fail" | "error" => Ok(Self::Failed),
            "skip" => Ok(Self::Skipped),
            _ => bail!("the report has a test of status `{word}`"),
        }
    }
}

impl Case {
    pub(crate) fn judge(&self, expected_to_fail: bool) -> Verdict {
        match (self.status, expected_to_fail) {
            (Status::Passed, false) => Verdict::Passed,
            (Status::Passed, true) => Verdict::PassedAgainstExpectation,
            (Status::Failed, false) => Verdict::Failed,
            (Status::Failed, true) => Verdict::FailedAsExpected,
            (Status::Skipped, _) => Verdict::Skipped,
        }
    }
}

impl Verdict {
    pub(crate) fn complaint(self, case: &Case) -> Option<String> {
        match self {
            Self::Failed => Some(format!("{}\n       {}", case.title, case.messages.join("\n       "))),
            Self::PassedAgainstExpectation => {
                Some(format!("{} passes: remove it from EXPECTED_FAILURES", case.title))
            }
            Self::Passed | Self::FailedAsExpected | Self::Skipped => None,
        }
    }
}

impl Tally {
    pub(crate) fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed | Verdict::PassedAgainstExpectation => self.failed += 1,
            Verdict::FailedAsExpected => self.failed_as_expected += 1,
            Verdict::Skipped => self.skipped += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let Self { passed, failed, failed_as_expected, skipped } = other;
        self.passed += passed;
        self.failed += failed;
        self.failed_as_expected += failed_as_expected;
        self.skipped += skipped;
    }

    pub(crate) fn in_full(&self) -> String {
        let Self { failed_as_expected, skipped, .. } = self;
        format!("{self}, {failed_as_expected} failed as expected, {skipped} assert nothing")
    }
}

/// The form that continuous integration reads.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(status: Status) -> Case {
        Case { title: "L0-X-001 name".to_owned(), status, messages: vec!["[s] why".to_owned()] }
    }

    #[test]
    fn an_unexpected_failure_is_a_failure_with_its_messages() {
        let case = case(Status::Failed);
        let verdict = case.judge(false);
        assert_eq!(verdict, Verdict::Failed);
        assert!(verdict.complaint(&case).unwrap().contains("[s] why"));
    }

    #[test]
    fn an_expected_failure_that_passes_asks_to_be_removed() {
        let case = case(Status::Passed);
        let verdict = case.judge(true);
        assert_eq!(verdict, Verdict::PassedAgainstExpectation);
        assert!(verdict.complaint(&case).unwrap().contains("remove it"));
    }

    #[test]
    fn an_expected_failure_is_silent() {
        let case = case(Status::Failed);
        assert_eq!(case.judge(true).complaint(&case), None);
    }

    #[test]
    fn only_surprises_count_as_failed() {
        let mut tally = Tally::default();
        tally.count(Verdict::Passed);
        tally.count(Verdict::FailedAsExpected);
        tally.count(Verdict::PassedAgainstExpectation);
        tally.count(Verdict::Skipped);
        assert_eq!(tally.to_string(), "1 passed, 1 failed");
    }
}
