//! Why the program ended badly, for whoever started it: one sentence, and what to do about it.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// A sentence, and a hint if there is one to give.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    hint: Option<String>,
    kind: Kind,
}

/// What the exit code tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It could not be done.
    Trouble,
    /// It was asked for in the wrong way: the code is that of a wrong flag.
    Misuse,
}

impl Failure {
    /// A failure that says it all.
    pub(crate) fn new(sentence: impl Into<String>) -> Failure {
        Failure { sentence: sentence.into(), hint: None, kind: Kind::Trouble }
    }

    /// A command line that cannot be followed.
    pub(crate) fn misuse(sentence: impl Into<String>) -> Failure {
        Failure { kind: Kind::Misuse, ..Failure::new(sentence) }
    }

    /// A failure with all its causes in the sentence.
    pub(crate) fn because(sentence: impl fmt::Display, error: &(dyn Error + 'static)) -> Failure {
        let mut text = sentence.to_string();
        let mut cause = Some(error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        Failure::new(text)
    }

    /// With a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// What happened.
    pub(crate) fn sentence(&self) -> &str {
        &self.sentence
    }

    /// What to do.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What the program ends with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Trouble => ExitCode::FAILURE,
            Kind::Misuse => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hapax: {}", self.sentence)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}
