//! A person is asked before a key is taken from a job.

use std::io::{self, BufRead, IsTerminal as _};

use crate::cli::Confirmation;
use crate::failure::Failure;
use crate::output::Text;

/// Who can say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// It was said on the command line.
    Given,
    /// Somebody sits at a terminal.
    ToBeAsked,
    /// There is nobody to ask.
    Nobody,
}

impl Consent {
    pub(super) fn find(confirmation: &Confirmation) -> Consent {
        match confirmation {
            Confirmation { yes: true } => Consent::Given,
            Confirmation { yes: false } if io::stdin().is_terminal() => Consent::ToBeAsked,
            Confirmation { yes: false } => Consent::Nobody,
        }
    }

    /// Asks if it has to. The question goes to standard error, so that standard output is the answer alone.
    pub(super) fn obtain(self, question: &str) -> Result<(), Failure> {
        match self {
            Consent::Given => Ok(()),
            Consent::ToBeAsked => {
                eprint!("{} [y/N] ", Text::new(question));
                heard(&mut io::stdin().lock())
            }
            Consent::Nobody => Err(Failure::misuse("there is no terminal to ask for a confirmation at")
                .hint("say --yes to go on without one")),
        }
    }
}

fn heard(input: &mut impl BufRead) -> Result<(), Failure> {
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| Failure::because("could not read your answer", &error))?;
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new("you did not say yes: nothing was changed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for line in ["y\n", "YES\r\n", " yes "] {
            assert!(heard(&mut line.as_bytes()).is_ok(), "{line}");
        }
        for line in ["", "\n", "n\n", "yessir\n", "no\ny\n"] {
            let failure = heard(&mut line.as_bytes()).unwrap_err();
            assert_eq!(failure.sentence(), "you did not say yes: nothing was changed", "{line}");
        }
    }

    #[test]
    fn without_a_terminal_nothing_is_assumed() {
        let failure = Consent::Nobody.obtain("really?").unwrap_err();
        assert_eq!(failure.advice(), Some("say --yes to go on without one"));
        assert!(Consent::Given.obtain("really?").is_ok());
    }
}
