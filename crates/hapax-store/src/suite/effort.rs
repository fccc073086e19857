//! How much the random part does.

/// How much the random part does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// How many random sequences run.
    pub cases: u32,
    /// How long a sequence is at most.
    pub steps: usize,
    /// How often each race is run.
    pub rounds: usize,
    /// Where the random numbers start: the same seed gives the same sequences.
    pub seed: u64,
}

impl Default for Effort {
    /// About 20 seconds for the reference store in the dev profile.
    fn default() -> Self {
        Effort { cases: 3000, steps: 150, rounds: 500, seed: 1 }
    }
}

impl Effort {
    /// With the number of sequences from `HAPAX_SUITE_CASES` and the seed from `HAPAX_SUITE_SEED`, where set.
    #[must_use]
    pub fn from_environment(self) -> Effort {
        let cases = number("HAPAX_SUITE_CASES").map(|n| u32::try_from(n).expect("fits 32 bits"));
        Effort {
            cases: cases.unwrap_or(self.cases),
            seed: number("HAPAX_SUITE_SEED").unwrap_or(self.seed),
            ..self
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told how long they may run")]
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}
