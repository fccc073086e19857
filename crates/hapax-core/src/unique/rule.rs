//! What decides about a job that meets a holder of its key.

use super::Strategy;

/// The part of a policy, or the job key, that said what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// `on_conflict`.
    Strategy(Strategy),
    /// The `replace` member.
    Replacement,
    /// `debounce`.
    Debounce,
    /// `while_active`.
    QueueLatest,
    /// `job_key`.
    JobKey,
}

impl Rule {
    /// One word for metrics and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Strategy(strategy) => strategy.name(),
            Rule::Replacement => "update",
            Rule::Debounce => "debounce",
            Rule::QueueLatest => "queue_latest",
            Rule::JobKey => "job_key",
        }
    }
}
