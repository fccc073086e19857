//! Counting the incoming jobs that met a holder of their key.

use hapax_core::unique::{Rule, Strategy};
use hapax_core::{Admission, Refusal, Verdict};

use crate::Broker;

impl Broker {
    /// Counts what became of one incoming job.
    pub(crate) fn count(&self, answer: Result<&Admission, &Refusal>) {
        let observer = &self.shared.observer;
        if let Ok(Admission { verdict: Verdict::Existing | Verdict::Updated(_), .. }) = answer {
            observer.deduplicated();
        }
        if let Some(rule) = answer.map_or_else(refused_by, |admission| admission.rule) {
            observer.conflict(rule.name());
        }
    }
}

/// In a batch, a rejected job is a refusal.
fn refused_by(refusal: &Refusal) -> Option<Rule> {
    matches!(refusal, Refusal::Duplicate { .. } | Refusal::Twin { .. })
        .then_some(Rule::Strategy(Strategy::Reject))
}
